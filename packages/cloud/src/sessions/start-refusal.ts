import type { CloudErrorCode } from '@botcli/protocol/cloud'
import * as z from 'zod'
import type { InstanceAnswer } from '../engine/instance-client.ts'
import { CloudError } from '../errors.ts'

const errorBody = z.object({ error: z.string() })

/** What the refusal of an instance means for the caller of the cloud. */
const CODES: Readonly<Record<number, CloudErrorCode>> = {
  400: 'INVALID_REQUEST',
  403: 'FORBIDDEN',
  413: 'PAYLOAD_TOO_LARGE',
  422: 'INVALID_REQUEST',
  429: 'DEPLOY-AT-CAPACITY',
  // Something that the bot's secrets should have is missing there.
  501: 'INVALID_REQUEST',
  503: 'DEPLOY-NOT-READY',
}

/** Makes an error of an instance one of the cloud. */
export function refusalOf({ status, body }: InstanceAnswer): CloudError {
  const said = errorBody.safeParse(body)
  const why = said.success ? said.data.error : `The instance answered ${status}.`
  const code = CODES[status] ?? 'DEPLOY-SESSION-FAILED'
  const later = code === 'DEPLOY-AT-CAPACITY' || code === 'DEPLOY-NOT-READY'
  return new CloudError(code, why, later ? { retryAfterSeconds: 5 } : {})
}
