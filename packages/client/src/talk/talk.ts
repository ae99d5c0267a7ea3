import type { RTVIMessage } from '@pipecat-ai/client-js'
import { PageMedia } from '../media/page-media.ts'
import {
  type Ending,
  endingOfError,
  microphoneProblem,
  type Problem,
  reportedError,
  speakerProblem,
  TalkError,
} from '../state/problem.ts'
import type { BotHost } from './bot-host.ts'
import { connectProblem } from './connect-problem.ts'
import { ListeningClient } from './listening-client.ts'
import { isNearby } from './runner-api.ts'
import { webrtcWire } from './webrtc-wire.ts'
import { websocketWire } from './websocket-wire.ts'
import type { Wire } from './wire.ts'

const REASON_PAUSE_MS = 50
const OUTCOME_TRIES = 6
const OUTCOME_PAUSE_MS = 250

/** What the page hears of a conversation. */
export interface TalkEvents {
  session(sessionId: string): void
  message(message: RTVIMessage): void
  sent(type: string, data: unknown): void
  /** Something is not as it should be, but the conversation goes on. `undefined` takes it back. */
  problem(problem: Problem | undefined): void
  /** Called exactly once, whatever the reason. */
  ended(ending: Ending): void
}

/** How the person wants to talk. */
export interface TalkOptions {
  readonly transport: 'webrtc' | 'websocket'
  readonly microphoneId: string
  readonly speakerId: string
  readonly muted: boolean
}

/** One conversation with the bot, from the click to the end. */
export class Talk {
  readonly #options: TalkOptions
  readonly #host: BotHost
  readonly #events: TalkEvents
  readonly #media: PageMedia
  readonly #over = new AbortController()
  #client: ListeningClient | undefined
  #wire: Wire | undefined
  #sessionId: string | undefined
  #muted: boolean
  #interrupted = false
  #ended = false

  /** To be made inside the handler of a click, so that the browser lets the page play sound. */
  constructor(options: TalkOptions, host: BotHost, events: TalkEvents) {
    this.#options = options
    this.#host = host
    this.#events = events
    this.#muted = options.muted
    this.#media = new PageMedia({
      ...options,
      onMicrophoneError: (error) => events.problem(microphoneProblem(error)),
      onSpeakerError: (error) => events.problem(speakerProblem(error)),
    })
  }

  get levels(): { readonly user: number; readonly bot: number } {
    return this.#media.levels
  }

  get hasMicrophone(): boolean {
    return this.#media.hasMicrophone
  }

  /** Connects and resolves to true when the bot is ready; otherwise `ended` tells why. */
  async open(): Promise<boolean> {
    const done = new AbortController()
    try {
      // The permission comes first: a session must not wait at the runner while somebody reads a question.
      await Promise.race([this.#media.initialize(), aborted(this.#over.signal)])
      if (this.#ended) return false
      await Promise.race([
        this.#connect(),
        notReady(this.#host, AbortSignal.any([done.signal, this.#over.signal])),
      ])
      return !this.#ended
    } catch (error) {
      if (!this.#letGo()) return false
      // Browsers keep the answer to a refused WebSocket to themselves, so the runner's record is asked first.
      const recorded = this.#options.transport === 'websocket' ? await this.#outcome(1) : undefined
      const said = { failed: true, problem: await connectProblem(error, this.#host) }
      this.#events.ended(recorded ?? said)
      return false
    } finally {
      done.abort()
    }
  }

  /** Ends the conversation because the person wants to. */
  close(): void {
    this.#finish({ failed: false })
  }

  setMuted(muted: boolean): void {
    this.#muted = muted
    if (this.#client?.connected) this.#client.enableMic(!muted)
    else void this.#media.enableMic(!muted)
  }

  async chooseMicrophone(deviceId: string): Promise<void> {
    await this.#media.updateMic(deviceId)
    const track = this.#media.tracks().local.audio
    if (track !== undefined) await this.#wire?.replaceTrack(track)
  }

  chooseSpeaker(deviceId: string): void {
    this.#media.updateSpeaker(deviceId)
  }

  async sendText(text: string): Promise<void> {
    await this.#client?.sendText(text, { run_immediately: true, audio_response: true })
  }

  pressKey(key: string): void {
    this.#client?.sendDTMF(key)
  }

  async #connect(): Promise<void> {
    const session = await this.#host.start({
      transport: this.#options.transport,
      enableDefaultIceServers: this.#options.transport === 'webrtc' && !isNearby(location.hostname),
    })
    this.#sessionId = session.sessionId
    if (this.#ended) return
    this.#events.session(session.sessionId)
    const wireEvents = {
      sent: this.#events.sent,
      closed: (ending: Ending) => void this.#endedByWire(ending),
      interrupted: () => void this.#onInterrupted(),
      restored: () => this.#onRestored(),
    }
    const wire =
      this.#options.transport === 'websocket'
        ? websocketWire(session, this.#media, wireEvents)
        : webrtcWire(session, this.#host.offerPlace(session.sessionId), this.#media, wireEvents)
    this.#wire = wire
    const callbacks = {
      onConnected: () => wire.connected(),
      onTrackStarted: (track: MediaStreamTrack) => this.#onTrack(track),
      onDisconnected: () => void this.#onDisconnected(),
    }
    const client = new ListeningClient(
      { transport: wire.transport, enableMic: !this.#muted, enableCam: false, callbacks },
      (message) => this.#onMessage(message),
    )
    this.#client = client
    await client.connect(wire.connectParams)
  }

  #onTrack(track: MediaStreamTrack): void {
    if (track.kind === 'audio') this.#media.playTrack(track)
  }

  #onMessage(message: RTVIMessage): void {
    if (this.#ended) return
    this.#onRestored()
    this.#events.message(message)
    if (message.type !== 'error') return
    const ending = endingOfError(message.data)
    if (ending === undefined) this.#events.problem(reportedError(message.data))
    else void this.#endedByWire(ending)
  }

  /** A refused offer comes here first, and a moment later with its reason out of `connect`. */
  async #onDisconnected(): Promise<void> {
    await pause(REASON_PAUSE_MS)
    await this.#endedByWire({ failed: true, problem: lostBy(this.#host), isGuess: true })
  }

  /** The peer is gone; when its session is over too, nobody has to wait for a reconnection that cannot come. */
  async #onInterrupted(): Promise<void> {
    if (this.#ended) return
    this.#interrupted = true
    this.#events.problem(RECONNECTING)
    const ending = await this.#outcome()
    if (ending !== undefined) this.#finish(ending)
  }

  /** A message means the same: after a reconnection the wire has a new peer, which nobody watches yet. */
  #onRestored(): void {
    if (this.#ended || !this.#interrupted) return
    this.#interrupted = false
    this.#events.problem(undefined)
    this.#wire?.connected()
  }

  /** What was recorded knows more than what the wire could say. */
  async #endedByWire(said: Ending): Promise<void> {
    if (!this.#letGo()) return
    const recorded = this.#host.knowsCauses || said.isGuess ? await this.#outcome() : undefined
    this.#events.ended(recorded ?? said)
  }

  async #outcome(tries = OUTCOME_TRIES): Promise<Ending | undefined> {
    const sessionId = this.#sessionId
    for (let left = tries; sessionId !== undefined && left > 0; left -= 1) {
      const ending = await this.#host.ending(sessionId)
      if (ending !== undefined) return ending
      if (left > 1) await pause(OUTCOME_PAUSE_MS)
    }
    return undefined
  }

  #finish(ending: Ending): void {
    if (this.#letGo()) this.#events.ended(ending)
  }

  /** Frees everything; false when that was done before. */
  #letGo(): boolean {
    if (this.#ended) return false
    this.#ended = true
    this.#over.abort()
    this.#media.close()
    // The devices are free already, so nobody has to wait for the goodbye to the peer.
    this.#client?.disconnect().catch(() => {})
    return true
  }
}

function lostBy({ name }: BotHost): Problem {
  return {
    tone: 'error',
    title: 'The connection to the bot was lost.',
    detail: `${name} may have stopped, or the network dropped. You can connect again.`,
  }
}

const RECONNECTING: Problem = {
  tone: 'warning',
  title: 'The connection to the bot is interrupted.',
  detail: 'Trying to get it back.',
}

function notReadyError({ readyLimitMs, output }: BotHost): TalkError {
  return new TalkError('not_ready', {
    tone: 'error',
    title: 'The bot did not get ready in time.',
    detail: `Nothing came from it for ${readyLimitMs / 1000} seconds. ${output} says what it is doing.`,
  })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Resolves when there is nothing to wait for any more, and rejects when the time is up before that. */
function notReady(host: BotHost, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(notReadyError(host)), host.readyLimitMs)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}
