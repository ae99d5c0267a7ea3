import { MediaError, type MediaErrorCode } from '@botcli/media'
import type { ErrorCode } from '@botcli/protocol'
import { RunnerError } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'

const MEDIA_ERRORS: Readonly<Record<MediaErrorCode, ErrorCode>> = {
  invalid_offer: 'invalid_offer',
  invalid_upgrade: 'invalid_offer',
  invalid_call: 'invalid_offer',
  media_unavailable: 'media_unavailable',
  not_served: 'not_found',
  bot_busy: 'bot_busy',
  bot_failed: 'bot_failed',
  bot_timeout: 'bot_timeout',
}

/** The one place where what went wrong becomes what a client is told. */
export function requestErrorOf(error: unknown, logger: Logger): RequestError {
  if (error instanceof RequestError) return error
  if (error instanceof MediaError) {
    return new RequestError(MEDIA_ERRORS[error.code], error.message, { cause: error })
  }
  if (error instanceof RunnerError) {
    logger.error(error.message, { ...(error.detail && { detail: error.detail }) })
    return new RequestError('bot_not_loaded', error.message, { cause: error })
  }
  logger.error('a request failed', { error })
  return new RequestError('internal_error', 'The runner failed to serve this request. Its log says why.')
}
