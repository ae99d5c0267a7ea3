import { z } from 'zod'

/** Where the messaging provider answers when nobody says otherwise. */
export const DEFAULT_WHATSAPP_API_URL = 'https://graph.facebook.com/v23.0'

/** `GET /whatsapp`: the provider asks whether this webhook is ours. */
export const whatsappVerificationSchema = z.object({
  'hub.mode': z.literal('subscribe'),
  'hub.verify_token': z.string(),
  'hub.challenge': z.string().regex(/^\w{1,200}$/),
})

/** `POST /whatsapp`: the envelope of everything that the provider tells, calls or not. */
export const whatsappWebhookSchema = z.object({
  object: z.literal('whatsapp_business_account'),
  entry: z
    .array(z.object({ changes: z.array(z.object({ field: z.string(), value: z.unknown() })).max(100) }))
    .max(100),
})

/** The value of a change in the field `calls`. Each call in it is judged by itself. */
export const whatsappCallsSchema = z.object({
  metadata: z.object({ phone_number_id: z.string(), display_phone_number: z.string().optional() }),
  contacts: z
    .array(z.object({ wa_id: z.string(), profile: z.object({ name: z.string() }).optional() }))
    .optional(),
  calls: z.array(z.unknown()).max(100).default([]),
})
export type WhatsappCallsValue = z.infer<typeof whatsappCallsSchema>

const timestamp = z.union([z.string(), z.number()]).transform(String)

/** Somebody calls, and offers SDP. */
const connectSchema = z.object({
  event: z.literal('connect'),
  id: z.string().min(1),
  from: z.string(),
  to: z.string(),
  timestamp,
  direction: z.string().nullish(),
  session: z.object({ sdp: z.string().min(1), sdp_type: z.literal('offer') }),
})
export type WhatsappConnect = z.infer<typeof connectSchema>

/** A call is over. */
const terminateSchema = z.object({
  event: z.literal('terminate'),
  id: z.string().min(1),
  status: z.string().nullish(),
})

/** What a runner has to know about calls; other events are for others. */
export const whatsappCallSchema = z.discriminatedUnion('event', [connectSchema, terminateSchema])

/** What a bot finds in `body` when it answers such a call: the call without its SDP, and who calls. */
export interface WhatsappBody {
  readonly id: string
  readonly event: 'connect'
  readonly from: string
  readonly to: string
  readonly timestamp: string
  readonly direction: string | null
  readonly contact?: { readonly wa_id: string; readonly name?: string }
}

/** `POST /{phoneNumberId}/calls` of the provider. */
export interface WhatsappAction {
  readonly messaging_product: 'whatsapp'
  readonly action: 'pre_accept' | 'accept' | 'reject' | 'terminate'
  readonly call_id: string
  readonly to?: string
  readonly session?: { readonly sdp: string; readonly sdp_type: 'answer' }
}

/** Its answer; anything else is a refusal. */
export const whatsappDoneSchema = z.object({ success: z.literal(true) })

/** How the provider says no. */
export const whatsappRefusalSchema = z.object({ error: z.object({ message: z.string() }) })
