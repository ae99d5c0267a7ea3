import { z } from 'zod'
import { freeFormObject } from './start.ts'

/** What the room provider sends once to see whether the webhook is there. It spells the key either way. */
export const dialinTestSchema = z.union([
  z.object({ test: z.unknown().refine(Boolean) }),
  z.object({ Test: z.unknown().refine(Boolean) }),
])

/** `POST /daily-dialin-webhook`: a caller is on hold. */
export const dialinCallSchema = z.object({
  From: z.string().min(1),
  To: z.string().min(1),
  callId: z.string().min(1),
  callDomain: z.string().min(1),
  sipHeaders: freeFormObject.nullish(),
})
export type DialinCall = z.infer<typeof dialinCallSchema>

/** What a bot finds in `body` when it was started by a caller who dialled in. */
export interface DialinBody {
  readonly dialin_settings: {
    readonly call_id: string
    readonly call_domain: string
    readonly From?: string
    readonly To?: string
    readonly sip_headers?: Readonly<Record<string, unknown>>
  }
  readonly room_api_key: string
  readonly room_api_url: string
}

/** Answer of `/daily-dialin-webhook`. */
export interface DialinResponse {
  readonly roomUrl: string
  readonly sessionId: string
}
