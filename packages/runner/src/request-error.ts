import { ERROR_STATUS, type ErrorBody, type ErrorCode, errorBody } from '@botcli/protocol'

/** A request that is answered with an error. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }

  get body(): ErrorBody {
    return errorBody(this.code, this.message)
  }

  /** Headers that go with the answer. */
  get headers(): Readonly<Record<string, string>> {
    if (this.status === 429 || this.status === 503) return { 'Retry-After': '5' }
    return {}
  }
}
