import {
  LogLevel,
  PipecatClient,
  RTVIEvent,
  type RTVIMessage,
  type TransportConnectionParams,
} from '@pipecat-ai/client-js'
import { BOT_URL } from '../settings'
import type { BotTransport, CreatedTransport, StartAnswer } from './bot-transport'
import { BotError, NOT_READY, reportedProblem, STOPPED } from './problem'

const START_LIMIT_MS = 20_000
const READY_LIMIT_MS = 30_000

/** Handed to the bot with each conversation, as `body` of its runner arguments. */
const START_BODY: Record<string, string> = {}

/**
 * The published client for one conversation. It could be used for another one, but an attempt that was given up halfway
 * would get in the way of the next.
 */
export class BotClient {
  readonly client: PipecatClient
  readonly #transport: BotTransport
  readonly #created: CreatedTransport
  #attempt: AbortController | undefined

  constructor(transport: BotTransport) {
    this.#transport = transport
    this.#created = transport.create()
    this.client = new PipecatClient({
      transport: this.#created.transport,
      enableMic: true,
      // #if camera
      enableCam: transport.video,
      // #end
    })
    this.client.setLogLevel(LogLevel.ERROR)
    this.client.on(RTVIEvent.UserStartedSpeaking, () => this.#created.silence())
  }

  /** Whether somebody hung up. */
  get closed(): boolean {
    return this.#attempt?.signal.aborted === true
  }

  /** Starts a bot and connects to it. Resolves when it is ready to talk. */
  async connect(): Promise<void> {
    this.#attempt = new AbortController()
    const { signal } = this.#attempt
    try {
      const answer = await this.client.startBot({
        endpoint: `${BOT_URL}/start`,
        requestData: {
          transport: this.#transport.id,
          // On one machine or network, peers find each other without a public server.
          enableDefaultIceServers: this.#transport.id === 'webrtc' && !isNearby(new URL(BOT_URL).hostname),
          body: START_BODY,
        },
        timeout: START_LIMIT_MS,
      })
      signal.throwIfAborted()
      await this.#ready(this.#transport.connection(answer as StartAnswer), signal)
    } catch (error) {
      // What failed, or was given up, may have got further in the meantime.
      await this.#disconnect()
      throw error
    }
  }

  /** Hangs up, at any time. */
  async close(): Promise<void> {
    if (this.#attempt === undefined) return
    this.#attempt.abort()
    await this.#disconnect()
  }

  async #disconnect(): Promise<void> {
    this.#created.release()
    await this.client.disconnect().catch(() => {})
  }

  /** The client's own promise stays open when the connection ends before the bot is ready. */
  #ready(connection: TransportConnectionParams, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      let reason: BotError = STOPPED
      const done = () => {
        clearTimeout(timer)
        this.client.off(RTVIEvent.Error, onError)
        this.client.off(RTVIEvent.Disconnected, onDisconnected)
        signal.removeEventListener('abort', onAbort)
      }
      const fail = (error: unknown) => {
        done()
        reject(error)
      }
      const onError = (message: RTVIMessage) => {
        const problem = reportedProblem(message)
        if (problem !== undefined) reason = new BotError(problem)
      }
      // A refused connection comes here first, and with its own reason a moment later.
      const onDisconnected = () => setTimeout(() => fail(reason), 50)
      const onAbort = () => fail(signal.reason)
      const timer = setTimeout(() => fail(NOT_READY), READY_LIMIT_MS)
      this.client.on(RTVIEvent.Error, onError)
      this.client.on(RTVIEvent.Disconnected, onDisconnected)
      signal.addEventListener('abort', onAbort)
      this.client.connect(connection).then(() => {
        done()
        if (signal.aborted) void this.#disconnect()
        resolve()
      }, fail)
    })
  }
}

function isNearby(host: string): boolean {
  return (
    /(^|\.)local(host)?$/.test(host) ||
    host === '[::1]' ||
    /^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\./.test(host)
  )
}
