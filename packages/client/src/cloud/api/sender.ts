import { shapeOf } from '../../state/shape.ts'
import { ApiError, noAnswer, refusal } from './api-error.ts'

const ANSWER_LIMIT_MS = 20_000

/** A request with a body, or without one. */
export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: unknown
}

/**
 * Sends requests with a key. The cloud that answers is the one that served this page, so an answer has the shape that both were built with;
 * only that it is an answer of the cloud at all is looked at.
 */
export class Sender {
  readonly #origin: string
  readonly #fetch: typeof fetch
  readonly #key: string
  readonly #refused: () => void

  constructor(origin: string, fetchFunction: typeof fetch, key: string, refused: () => void) {
    this.#origin = origin
    this.#fetch = fetchFunction
    this.#key = key
    this.#refused = refused
  }

  /** Sends a request and gives its answer, which has to have the given member. */
  async ask<T>(path: string, member: string, { method = 'GET', body }: Asked = {}): Promise<T> {
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS)
    const content =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const response = await this.send(path, { method, signal, ...content })
    const answer: unknown = await response.json().catch(() => undefined)
    if (member in shapeOf(answer)) return answer as T
    throw new ApiError(response.status, 'STRANGE_ANSWER', `What answered ${path} is not this cloud.`)
  }

  /** Opens a stream of events, after one of them if that is given. An `EventSource` could not send the key. */
  async stream(path: string, lastId: string | undefined, signal: AbortSignal): Promise<Response> {
    const headers = {
      accept: 'text/event-stream',
      ...(lastId !== undefined && { 'last-event-id': lastId }),
    }
    return this.send(path, { headers, signal, cache: 'no-store' })
  }

  /** Sends a request and gives its answer, if it is a success. */
  async send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, authorization: `Bearer ${this.#key}` }
    let response: Response
    try {
      response = await this.#fetch(new URL(path, this.#origin), { ...init, headers })
    } catch (error) {
      throw noAnswer(error)
    }
    if (response.ok) return response
    if (response.status === 401) this.#refused()
    throw await refusal(response)
  }
}

/** A name or an id as a part of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text)
}

/** A query of what is given, with its question mark. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
