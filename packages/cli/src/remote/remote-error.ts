/** Failures on this side of the wire, beside the codes of the API. */
export type LocalCode =
  | 'NOT_SIGNED_IN'
  | 'NOT_FOUND'
  | 'CREDENTIALS_INVALID'
  | 'UNREACHABLE'
  | 'TIMED_OUT'
  | 'CONNECTION_LOST'
  | 'ANSWER_INVALID'
  | 'UPLOAD_REFUSED'
  | 'REGION_MISMATCH'
  | 'SECRET_SET_MISSING'

/** A cloud refused, or could not be asked. It has the code and the message of the API where there was an answer. */
export class RemoteError extends Error {
  /** Of the API, or a {@link LocalCode}. */
  readonly code: string
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined
  /** After how long the cloud wants to be asked again. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: string,
    message: string,
    options: ErrorOptions & { readonly status?: number; readonly retryAfterMs?: number } = {},
  ) {
    super(message, options)
    this.name = 'RemoteError'
    this.code = code
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
  }

  /** A failure on this side. */
  static local(code: LocalCode, message: string, options?: ErrorOptions): RemoteError {
    return new RemoteError(code, message, options)
  }

  /** Whether the same request can do better a little later. */
  get isPassing(): boolean {
    if (this.status !== undefined) return [429, 502, 503, 504].includes(this.status)
    return this.code === 'UNREACHABLE' || this.code === 'TIMED_OUT' || this.code === 'CONNECTION_LOST'
  }
}

/** Why a connection failed, in a word. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0])
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  // Those of the system say something; those of the client beneath do not.
  if (code !== '' && !code.startsWith('UND_')) return code
  return cause instanceof Error ? cause.message : String(cause)
}
