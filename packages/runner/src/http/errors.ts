import { MediaError } from '@botcli/media'
import { RunnerError } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'

/** The one place where what went wrong becomes what a client is told. */
export function requestErrorOf(error: unknown, logger: Logger): RequestError {
  if (error instanceof RequestError) return error
  if (error instanceof MediaError) {
    const code = error.code === 'media_unavailable' ? 'media_unavailable' : 'invalid_offer'
    return new RequestError(code, error.message, { cause: error })
  }
  if (error instanceof RunnerError) {
    logger.error(error.message, { ...(error.detail && { detail: error.detail }) })
    return new RequestError('bot_not_loaded', error.message, { cause: error })
  }
  logger.error('a request failed', { error })
  return new RequestError('internal_error', 'The runner failed to serve this request. Its log says why.')
}
