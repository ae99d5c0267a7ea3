/** Every way in which the runner can fail to start or to go on, in one word. */
export type RunnerErrorCode =
  | 'bot_not_found'
  | 'bot_ambiguous'
  | 'bot_not_supported'
  | 'bot_load_failed'
  | 'port_in_use'
  | 'address_unavailable'
  | 'page_missing'
  | 'room_unavailable'
  | 'start_failed'

/** A failure that the user of the runner can understand and mend. */
export class RunnerError extends Error {
  readonly code: RunnerErrorCode
  /** More lines for people, such as a source excerpt or a stack; the message stands without them. */
  readonly detail: string | undefined

  constructor(code: RunnerErrorCode, message: string, detail?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RunnerError'
    this.code = code
    this.detail = detail
  }
}
