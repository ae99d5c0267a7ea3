/** What can be wrong with how a bot uses its session. */
export type BotErrorCode =
  | 'bot_not_found'
  | 'wrong_variant'
  | 'unknown_session'
  | 'transport_exists'
  | 'transport_not_offered'
  | 'no_room_sdk'
  | 'no_evals'
  | 'invalid_params'
  | 'invalid_audio'
  | 'invalid_message'
  | 'invalid_keys'
  | 'flooded'
  | 'rtvi_off'
  | 'already_answered'
  | 'already_serving'
  | 'invalid_response'
  | 'not_finished'
  | 'session_ended'

/** An error of this package. `session_ended` is not a fault: it stops a bot that still works for a caller who left. */
export class BotError extends Error {
  override readonly name = 'BotError'
  readonly code: BotErrorCode

  constructor(code: BotErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Whether a bot stopped only because its session did. It looks at names, since a bot may carry its own copy of this package. */
export function isEndOfSession(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'BotError') return 'code' in error && error.code === 'session_ended'
  return error.name === 'AbortError'
}
