import { cloudErrorBody } from '@botcli/protocol/cloud'
import { type AnswerSchema, readAnswer } from './answer.ts'
import { RemoteError, reasonOf } from './remote-error.ts'
import { realWait, type Wait, withRetries } from './retry.ts'

const LIMIT_MS = 30_000
const MAX_ERROR_TEXT = 300

/** Where a cloud is, and who asks. */
export interface HttpOptions {
  /** With or without `/v1` at its end. */
  readonly url: string
  readonly key: string
  readonly signal?: AbortSignal
  readonly wait?: Wait
}

/** One request. */
export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/v1`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly limitMs?: number
  /** Instead of that of all requests. */
  readonly signal?: AbortSignal | undefined
}

/** Requests to one cloud with one key. */
export class CloudHttp {
  /** The address, without a path of the API. */
  readonly url: string
  readonly #key: string
  readonly #signal: AbortSignal | undefined
  readonly #wait: Wait

  constructor({ url, key, signal, wait = realWait }: HttpOptions) {
    this.url = baseUrl(url)
    this.#key = key
    this.#signal = signal
    this.#wait = wait
  }

  /** Asks, and reads the answer. What only reads is tried again when it fails for a reason that may pass. */
  async json<T>(asked: Asked, schema: AnswerSchema<T>): Promise<T> {
    const once = async () => readAnswer(schema, parseJson(await this.#text(asked), this.url), this.url)
    return asked.method === undefined || asked.method === 'GET'
      ? withRetries(once, this.#wait, this.#signal)
      : once()
  }

  /** Asks for something to be done, with no answer but that it was. */
  async done(asked: Asked): Promise<void> {
    await this.#text(asked)
  }

  /** Asks for a stream. The limit is for its beginning only; who reads it sees to the rest. */
  async stream(asked: Asked): Promise<Response> {
    return this.#limited(asked, (limit) => this.#checked(asked, limit))
  }

  #text(asked: Asked): Promise<string> {
    return this.#limited(asked, async (limit) => {
      const response = await this.#checked(asked, limit)
      return response.text().catch((error: unknown) => {
        throw this.#failed(error, asked)
      })
    })
  }

  /** Does something within the limit of a request. */
  async #limited<T>({ limitMs = LIMIT_MS }: Asked, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(new DOMException('', 'TimeoutError')), limitMs)
    try {
      return await work(limit.signal)
    } finally {
      clearTimeout(timer)
    }
  }

  async #checked(asked: Asked, limit: AbortSignal): Promise<Response> {
    const response = await this.#fetch(asked, limit)
    if (response.ok) return response
    throw await refusal(response, this.url)
  }

  async #fetch(asked: Asked, limit: AbortSignal): Promise<Response> {
    const { method = 'GET', path, query = {}, body, headers } = asked
    const url = new URL(`${this.url}/v1${path}`)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    const signal = asked.signal ?? this.#signal
    try {
      return await fetch(url, {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${this.#key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal: AbortSignal.any(signal ? [limit, signal] : [limit]),
      })
    } catch (error) {
      throw this.#failed(error, asked)
    }
  }

  #failed(error: unknown, asked: Asked): unknown {
    ;(asked.signal ?? this.#signal)?.throwIfAborted()
    if (error instanceof Error && error.name === 'TimeoutError') {
      const seconds = (asked.limitMs ?? LIMIT_MS) / 1000
      return RemoteError.local(
        'TIMED_OUT',
        `The cloud at ${this.url} did not answer within ${seconds} seconds.`,
      )
    }
    const reason = reasonOf(error)
    const advice = adviceOn(this.url, reason)
    return RemoteError.local(
      'UNREACHABLE',
      `The cloud at ${this.url} cannot be reached (${reason}). ${advice}`,
      {
        cause: error,
      },
    )
  }
}

function adviceOn(url: string, reason: string): string {
  const { protocol, hostname, host } = new URL(url)
  if (protocol === 'https:' && /SSL|EPROTO/.test(reason)) return `Does it speak http? Try http://${host}`
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return isHere
    ? 'Is it running? "botcli cloud" starts one here.'
    : 'Is it running, and is the address right?'
}

/** The address of a cloud as it is kept: without the path of its API. */
export function baseUrl(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/v1$/, '').replace(/\/+$/, '')
}

/** Why the cloud said no. */
async function refusal(response: Response, url: string): Promise<RemoteError> {
  const { status } = response
  const text = await response.text().catch(() => '')
  const place = response.headers.get('location')
  if (status >= 300 && status < 400 && place !== null) {
    return new RemoteError(
      'ANSWER_INVALID',
      `${url} leads on to ${place}. Use that address: botcli login URL.`,
      { status },
    )
  }
  const body = cloudErrorBody.loose().safeParse(tryJson(text))
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
  const options = { status, ...(wait >= 0 && { retryAfterMs: wait * 1000 }) }
  if (body.success) return new RemoteError(body.data.code, body.data.error, options)
  const shown = text.trim().slice(0, MAX_ERROR_TEXT) || response.statusText
  return new RemoteError('ANSWER_INVALID', `${url} answered ${status}: ${shown}`, options)
}

function parseJson(text: string, url: string): unknown {
  const value = tryJson(text)
  if (value !== undefined) return value
  throw RemoteError.local('ANSWER_INVALID', `${url} did not answer with JSON. Is it a botcli cloud?`)
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
