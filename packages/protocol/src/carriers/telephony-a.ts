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

const sequence = { sequenceNumber: lenient(carrierCount) }
const stream = { ...sequence, streamSid: lenient(carrierText) }

/** What carrier A sends. */
export const telephonyAFromCarrierSchema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('connected'),
    protocol: lenient(z.string()),
    version: lenient(z.string()),
  }),
  z.object({
    event: z.literal('start'),
    ...stream,
    start: z.object({
      streamSid: carrierText,
      callSid: carrierText,
      accountSid: lenient(carrierText),
      tracks: lenient(z.array(z.string())),
      mediaFormat: lenient(
        z.object({ encoding: carrierText, sampleRate: carrierCount, channels: lenient(carrierCount) }),
      ),
      customParameters: lenient(carrierParameters),
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
    dtmf: z.object({ track: lenient(z.string()), digit: carrierKey }),
  }),
  z.object({ event: z.literal('mark'), ...stream, mark: carrierMark }),
  z.object({
    event: z.literal('stop'),
    ...stream,
    stop: lenient(z.object({ accountSid: lenient(carrierText), callSid: lenient(carrierText) })),
  }),
])
export type TelephonyAFromCarrier = z.infer<typeof telephonyAFromCarrierSchema>

/** What carrier A is sent. */
export const telephonyAToCarrierSchema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('media'),
    streamSid: carrierText,
    media: z.object({ payload: botPayload }),
  }),
  z.object({ event: z.literal('mark'), streamSid: carrierText, mark: carrierMark }),
  z.object({ event: z.literal('clear'), streamSid: carrierText }),
])
export type TelephonyAToCarrier = z.infer<typeof telephonyAToCarrierSchema>

/** Spells one message of either side. */
export function encodeTelephonyA(message: TelephonyAFromCarrier | TelephonyAToCarrier): string {
  return JSON.stringify(message)
}
