import type { CloudErrorBody } from '@botcli/protocol/cloud'
import { diskFull, isDiskFull } from '../disk-full.ts'
import { CloudError } from '../errors.ts'
import type { CloudLog } from '../log.ts'

/** An error as it is sent. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: CloudErrorBody
}

/** The one place where what went wrong becomes what a caller is told. */
export function errorAnswerOf(error: unknown, log: CloudLog, requestId: string): ErrorAnswer {
  const known = error instanceof CloudError ? error : internal(error, log, requestId)
  return {
    status: known.status,
    headers: {
      ...(known.code === 'UNAUTHORIZED' && { 'WWW-Authenticate': 'Bearer' }),
      ...(known.retryAfterSeconds !== undefined && { 'Retry-After': String(known.retryAfterSeconds) }),
      'Cache-Control': 'no-store',
    },
    body: { error: known.message, code: known.code },
  }
}

function internal(error: unknown, log: CloudLog, requestId: string): CloudError {
  log.error('a request failed', { requestId, error })
  if (isDiskFull(error)) return diskFull(error)
  const message = `The cloud failed to serve this request. Its log says why, under ${requestId}.`
  return new CloudError('INTERNAL', message, { cause: error })
}
