/** Every error that an HTTP answer of the runner can carry: its code, and the status that goes with it. */
export const ERROR_STATUS = {
  invalid_request: 422,
  transport_not_enabled: 400,
  invalid_offer: 400,
  origin_not_allowed: 403,
  sender_not_verified: 403,
  token_invalid: 401,
  session_not_found: 404,
  peer_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  session_busy: 409,
  bot_not_started: 409,
  body_too_large: 413,
  upgrade_required: 426,
  too_many_sessions: 429,
  bot_busy: 429,
  internal_error: 500,
  not_configured: 501,
  provider_failed: 502,
  bot_failed: 502,
  bot_not_loaded: 503,
  media_unavailable: 503,
  shutting_down: 503,
  bot_timeout: 504,
} as const satisfies Record<string, number>

/** A code for programmatic handling. */
export type ErrorCode = keyof typeof ERROR_STATUS

/** Every error body. `info` repeats `error` because the published clients show that field. */
export interface ErrorBody {
  readonly error: string
  readonly code: ErrorCode
  readonly info: string
}

/** The one way to spell an error body. */
export function errorBody(code: ErrorCode, message: string): ErrorBody {
  return { error: message, code, info: message }
}
