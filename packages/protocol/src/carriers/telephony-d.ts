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

const stream = { sequence_number: lenient(carrierCount), stream_sid: lenient(carrierText) }

/** Sound to carrier D comes in multiples of this many bytes, or it is played with gaps. */
export const TELEPHONY_D_CHUNK_STEP_BYTES = 320
/** Smaller pieces than this are played with gaps, too. */
export const TELEPHONY_D_MIN_CHUNK_BYTES = 3200

/** What carrier D sends. */
export const telephonyDFromCarrierSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('connected') }),
  z.object({
    event: z.literal('start'),
    ...stream,
    start: z.object({
      stream_sid: carrierText,
      call_sid: carrierText,
      account_sid: lenient(carrierText),
      from: lenient(carrierText),
      to: lenient(carrierText),
      custom_parameters: lenient(carrierParameters),
      media_format: lenient(
        z.object({ encoding: carrierText, sample_rate: carrierCount, bit_rate: lenient(carrierCount) }),
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
    dtmf: z.object({ digit: carrierKey, duration: lenient(carrierCount) }),
  }),
  z.object({ event: z.literal('mark'), ...stream, mark: carrierMark }),
  z.object({
    event: z.literal('stop'),
    ...stream,
    stop: lenient(
      z.object({
        call_sid: lenient(carrierText),
        account_sid: lenient(carrierText),
        reason: lenient(z.string()),
      }),
    ),
  }),
])
export type TelephonyDFromCarrier = z.infer<typeof telephonyDFromCarrierSchema>

/** What carrier D is sent. */
export const telephonyDToCarrierSchema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('media'),
    stream_sid: carrierText,
    media: z.object({ payload: botPayload }),
  }),
  z.object({ event: z.literal('mark'), stream_sid: carrierText, mark: carrierMark }),
  z.object({ event: z.literal('clear'), stream_sid: carrierText }),
])
export type TelephonyDToCarrier = z.infer<typeof telephonyDToCarrierSchema>

/** Spells one message of either side. */
export function encodeTelephonyD(message: TelephonyDFromCarrier | TelephonyDToCarrier): string {
  return JSON.stringify(message)
}
