import { z } from 'zod'
import {
  botPayload,
  carrierCount,
  carrierKey,
  carrierMark,
  carrierMedia,
  carrierParameters,
  carrierText,
  lenient,
} from './fields.ts'

const stream = { sequence_number: lenient(carrierCount), stream_id: lenient(carrierText) }

/** What carrier B sends. The order of its media is not guaranteed; `chunk` tells it. */
export const telephonyBFromCarrierSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('connected'), version: lenient(z.string()) }),
  z.object({
    event: z.literal('start'),
    sequence_number: lenient(carrierCount),
    stream_id: carrierText,
    start: z.object({
      call_control_id: carrierText,
      call_session_id: lenient(carrierText),
      user_id: lenient(carrierText),
      from: lenient(carrierText),
      to: lenient(carrierText),
      tags: lenient(z.array(z.string())),
      client_state: lenient(z.string()),
      custom_parameters: lenient(carrierParameters),
      media_format: lenient(
        z.object({ encoding: carrierText, sample_rate: carrierCount, channels: lenient(carrierCount) }),
      ),
    }),
  }),
  z.object({
    event: z.literal('media'),
    ...stream,
    media: carrierMedia,
  }),
  z.object({
    event: z.literal('dtmf'),
    ...stream,
    occurred_at: lenient(z.string()),
    dtmf: z.object({ digit: carrierKey }),
  }),
  z.object({ event: z.literal('mark'), ...stream, mark: carrierMark }),
  z.object({
    event: z.literal('error'),
    ...stream,
    payload: lenient(
      z.object({ code: lenient(carrierCount), title: lenient(z.string()), detail: lenient(z.string()) }),
    ),
  }),
  z.object({
    event: z.literal('stop'),
    ...stream,
    stop: lenient(z.object({ user_id: lenient(carrierText), call_control_id: lenient(carrierText) })),
  }),
])
export type TelephonyBFromCarrier = z.infer<typeof telephonyBFromCarrierSchema>

/** What carrier B is sent. */
export const telephonyBToCarrierSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('media'), media: z.object({ payload: botPayload }) }),
  z.object({ event: z.literal('mark'), mark: carrierMark }),
  z.object({ event: z.literal('clear') }),
])
export type TelephonyBToCarrier = z.infer<typeof telephonyBToCarrierSchema>

/** Spells one message of either side. */
export function encodeTelephonyB(message: TelephonyBFromCarrier | TelephonyBToCarrier): string {
  return JSON.stringify(message)
}
