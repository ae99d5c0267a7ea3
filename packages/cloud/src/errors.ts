import { CLOUD_ERRORS, type CloudErrorCode } from '@botcli/protocol/cloud'

/** A failure that a caller of the API is told. */
export class CloudError extends Error {
  readonly code: CloudErrorCode
  /** For `Retry-After`. */
  readonly retryAfterSeconds?: number

  constructor(
    code: CloudErrorCode,
    message: string,
    options: ErrorOptions & { retryAfterSeconds?: number } = {},
  ) {
    super(message, options)
    this.name = 'CloudError'
    this.code = code
    if (options.retryAfterSeconds !== undefined) this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status(): number {
    return CLOUD_ERRORS[this.code].status
  }
}

/** The name of what went wrong, as the system or SQLite has it; empty for anything else. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
