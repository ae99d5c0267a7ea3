import { RequestError } from '../request-error.ts'

/** How a provider is called; the platform's own `fetch` outside of tests. */
export type Fetch = typeof fetch

/** The longest that a provider may take for one answer. */
const LIMIT_MS = 10_000
/** No answer that is of use is larger. */
const MAX_ANSWER_BYTES = 256 * 1024
/** What is shorter is no secret, and part of many words. */
const MIN_SECRET_LENGTH = 4
const MAX_REASON_CHARACTERS = 300

/** What a provider's REST API needs. */
export interface ProviderApiOptions {
  /** Who this is, in words for people. */
  readonly label: string
  readonly baseUrl: string
  readonly authorization: string
  /** What must not be seen, even when the provider repeats it. */
  readonly secrets: readonly string[]
  /** The variable to look at when the provider does not know us. */
  readonly credential: string
  /** Finds the provider's own words in a refusal. */
  readonly reason?: (answer: unknown) => string | undefined
  readonly fetch?: Fetch | undefined
  readonly limitMs?: number | undefined
  /** Aborted when nobody waits for answers any more. */
  readonly signal?: AbortSignal | undefined
}

/** One call. The path goes behind the base URL. */
export interface ProviderRequest {
  readonly method: 'POST' | 'DELETE'
  readonly path: string
  readonly json?: unknown
  readonly form?: Readonly<Record<string, string>>
}

/** What came back. */
export interface ProviderAnswer {
  readonly status: number
  /** The body as JSON; nothing when it is not. */
  readonly json: unknown
}

interface Schema<T> {
  safeParse(value: unknown): { readonly success: true; readonly data: T } | { readonly success: false }
}

/** A provider's REST API: every wait is limited, and no secret gets into a message. */
export class ProviderApi {
  readonly #options: ProviderApiOptions

  constructor(options: ProviderApiOptions) {
    this.#options = options
  }

  /** Calls and takes any answer. Rejects only when there is none. */
  async send(request: ProviderRequest, limitMs = this.#options.limitMs ?? LIMIT_MS): Promise<ProviderAnswer> {
    const { baseUrl, label } = this.#options
    const call = this.#options.fetch ?? fetch
    const timeout = AbortSignal.timeout(limitMs)
    const { signal: unwanted } = this.#options
    const signal = unwanted === undefined ? timeout : AbortSignal.any([timeout, unwanted])
    try {
      const response = await call(`${baseUrl.replace(/\/+$/, '')}${request.path}`, {
        method: request.method,
        headers: this.#headers(request),
        body: bodyOf(request),
        // A credential must not follow wherever an answer points.
        redirect: 'manual',
        signal,
      })
      return { status: response.status, json: parseJson(await readText(response)) }
    } catch (cause) {
      if (unwanted?.aborted) throw new RequestError('shutting_down', 'The runner is shutting down.')
      const seconds = Math.max(1, Math.round(limitMs / 1000))
      throw this.#failure(
        timeout.aborted
          ? `${label} did not answer within ${seconds} seconds. Try again later.`
          : `${label} could not be reached (${reasonOf(cause)}). Try again later.`,
      )
    }
  }

  /** Calls, and takes only a good answer of the expected shape. */
  async ask<T>(doing: string, request: ProviderRequest, schema: Schema<T>): Promise<T> {
    const answer = await this.send(request)
    if (answer.status < 200 || answer.status > 299) throw this.refusal(doing, answer)
    const parsed = schema.safeParse(answer.json)
    if (parsed.success) return parsed.data
    const { label } = this.#options
    throw this.#failure(`${label} was asked to ${doing}, and its answer made no sense.`)
  }

  /** Says that the provider said no, and why. */
  refusal(doing: string, { status, json }: ProviderAnswer): RequestError {
    const { label, credential, reason } = this.#options
    const words = reason?.(json)?.trim().slice(0, MAX_REASON_CHARACTERS)
    const because = words ? `: ${words.replace(/\.$/, '')}` : ''
    const advice = status === 401 || status === 403 ? ` Check ${credential}.` : ''
    return this.#failure(`${label} refused to ${doing} (status ${status})${because}.${advice}`)
  }

  /** The cause is left out on purpose: it could hold the request, and the request holds the key. */
  #failure(message: string): RequestError {
    const clean = this.#options.secrets
      .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
      .reduce((text, secret) => text.replaceAll(secret, '[redacted]'), message)
    return new RequestError('provider_failed', clean)
  }

  #headers({ json, form }: ProviderRequest): Record<string, string> {
    return {
      Authorization: this.#options.authorization,
      Accept: 'application/json',
      ...(json !== undefined && { 'Content-Type': 'application/json' }),
      ...(form !== undefined && { 'Content-Type': 'application/x-www-form-urlencoded' }),
    }
  }
}

function bodyOf({ json, form }: ProviderRequest): string | null {
  if (json !== undefined) return JSON.stringify(json)
  return form === undefined ? null : new URLSearchParams(form).toString()
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    // Leaving the loop also ends the download.
    if (size > MAX_ANSWER_BYTES) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The system's word for a failed connection. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : 'the connection failed'
}
