import { type IncomingMessage, request } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod'

/** A request to the engine. */
export interface EngineRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** A tar archive. */
  readonly body?: Readable
  readonly signal?: AbortSignal
}

const ANSWER_MS = 30_000
const MAX_ANSWER = 16 * 1024 * 1024
const engineError = z.object({ message: z.string() })

/** Talks the Docker Engine API over a Unix socket: to dockerd, and to podman's service. */
export class EngineClient {
  readonly socketPath: string
  /** Put before every path, such as `/v1.41`. */
  readonly #prefix: string

  constructor(socketPath: string, apiVersion?: string) {
    this.socketPath = socketPath
    this.#prefix = apiVersion === undefined ? '' : `/v${apiVersion}`
  }

  /** Sends a request whose answer is a stream. The caller reads it to its end or destroys it. */
  async open({ method, path, query, body, signal }: EngineRequest): Promise<IncomingMessage> {
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
    return await new Promise((resolve, reject) => {
      const sending = request({
        socketPath: this.socketPath,
        method,
        path: `${this.#prefix}${path}${search}`,
        headers: {
          host: 'localhost',
          ...(body === undefined ? {} : { 'content-type': 'application/x-tar' }),
        },
        ...(signal === undefined ? {} : { signal }),
      })
      sending.once('response', resolve)
      sending.once('error', (error) => {
        body?.destroy()
        reject(error)
      })
      if (body === undefined) sending.end()
      // An engine may answer before it has read everything; then its answer counts.
      else pipeline(body, sending).catch((error) => sending.destroy(error))
    })
  }

  /** Sends a request whose answer is short. */
  async ask(asked: EngineRequest): Promise<{ readonly status: number; readonly body: unknown }> {
    const answer = await this.open({ ...asked, signal: AbortSignal.timeout(ANSWER_MS) })
    let text = ''
    for await (const part of answer) {
      text += String(part)
      if (text.length > MAX_ANSWER) throw new Error('the answer of the engine is too long')
    }
    return { status: answer.statusCode ?? 0, body: parsed(text) }
  }
}

/** What the engine says was wrong. */
export function engineMessage(body: unknown): string {
  const found = engineError.safeParse(body)
  return found.success ? found.data.message : String(body)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
