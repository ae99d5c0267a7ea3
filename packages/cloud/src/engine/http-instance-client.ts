import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import {
  INSTANCE_BEAT_MS,
  type InstanceInfo,
  SESSION_ID_HEADER,
  type SessionView,
  type StartRequest,
} from '@botcli/protocol'
import type { InstanceAnswer, InstanceClient } from './instance-client.ts'
import { instanceInfoOf, sessionViewOf } from './journal-record.ts'

const ANSWER_MS = 10_000
/** A start makes a room with another service, or waits for a bot that is being loaded. */
const START_MS = 40_000
/** An end waits for the bot to finish. */
const STOP_MS = 40_000
/** An instance that says nothing for so long is not watched any more. */
const SILENCE_MS = 3 * INSTANCE_BEAT_MS
const MAX_BODY_BYTES = 1024 * 1024

interface Asked {
  readonly socketPath: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly limitMs: number
}

/** Talks to instances by HTTP over their Unix sockets. */
export class HttpInstanceClient implements InstanceClient {
  /** Connections are not kept: a new one takes a fraction of a millisecond, and an old one may have died with its instance. */
  readonly #agent = new Agent({ keepAlive: false })

  async info(socketPath: string): Promise<InstanceInfo> {
    const answer = await this.#ask({ socketPath, method: 'GET', path: '/instance', limitMs: ANSWER_MS })
    if (answer.status !== 200) throw new Error(`The instance answered with ${answer.status}.`)
    const info = instanceInfoOf(answer.body)
    if (info === undefined) throw new Error('The instance answered with something else.')
    return info
  }

  async start(
    socketPath: string,
    sessionId: string,
    startRequest: StartRequest,
    headers: Readonly<Record<string, string>>,
    limitMs: number,
  ): Promise<InstanceAnswer> {
    return await this.#ask({
      ...{ socketPath, method: 'POST', path: '/start', limitMs: Math.min(START_MS, Math.max(0, limitMs)) },
      headers: { ...headers, 'content-type': 'application/json', [SESSION_ID_HEADER]: sessionId },
      body: JSON.stringify(startRequest),
    })
  }

  async session(socketPath: string, sessionId: string): Promise<SessionView | undefined> {
    return await this.#session(socketPath, 'GET', sessionId, ANSWER_MS)
  }

  async stop(socketPath: string, sessionId: string): Promise<SessionView | undefined> {
    return await this.#session(socketPath, 'DELETE', sessionId, STOP_MS)
  }

  async watch(socketPath: string, onBeat: () => void, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await new Promise<void>((resolve) => {
      const asked = {
        socketPath,
        path: '/instance/events',
        agent: this.#agent,
        headers: { host: 'localhost' },
      }
      const sending = request(asked)
      const end = (): void => {
        clearTimeout(silence)
        signal.removeEventListener('abort', end)
        sending.destroy()
        resolve()
      }
      const silence = setTimeout(end, SILENCE_MS)
      signal.addEventListener('abort', end)
      sending.on('error', end)
      sending.on('close', end)
      sending.on('response', (answer) => {
        answer.on('error', end)
        if (answer.statusCode !== 200) return end()
        answer.on('data', () => {
          silence.refresh()
          onBeat()
        })
        answer.on('end', end)
      })
      sending.end()
    })
  }

  async #session(
    socketPath: string,
    method: Asked['method'],
    sessionId: string,
    limitMs: number,
  ): Promise<SessionView | undefined> {
    const path = `/sessions/${encodeURIComponent(sessionId)}`
    const { status, body } = await this.#ask({ socketPath, method, path, limitMs })
    if (status === 404) return undefined
    if (status !== 200) throw new Error(`The instance answered with ${status}.`)
    const view = sessionViewOf(body)
    if (view?.sessionId !== sessionId) throw new Error('The instance answered with something else.')
    return view
  }

  async #ask({ socketPath, method, path, headers, body, limitMs }: Asked): Promise<InstanceAnswer> {
    return await new Promise((resolve, reject) => {
      const sending: ClientRequest = request({
        ...{ socketPath, method, path, agent: this.#agent },
        headers: {
          ...headers,
          host: 'localhost',
          ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
        },
      })
      const fail = (error: Error): void => {
        clearTimeout(timer)
        sending.destroy()
        reject(error)
      }
      const timer = setTimeout(
        () => fail(new Error(`The instance did not answer within ${Math.round(limitMs / 1000)} seconds.`)),
        limitMs,
      )
      sending.on('error', fail)
      sending.on('response', (answer) => {
        bodyOf(answer).then((value) => {
          clearTimeout(timer)
          resolve({ status: answer.statusCode ?? 0, body: value })
        }, fail)
      })
      sending.end(body)
    })
  }
}

async function bodyOf(answer: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of answer as AsyncIterable<Buffer>) {
    size += part.length
    if (size > MAX_BODY_BYTES) throw new Error('The answer of the instance is too long.')
    parts.push(part)
  }
  const text = Buffer.concat(parts).toString('utf8')
  try {
    return text === '' ? null : JSON.parse(text)
  } catch (cause) {
    throw new Error('The answer of the instance is no JSON.', { cause })
  }
}
