import { z } from 'zod'
import { botPayload, carrierCount, carrierKey, carrierMedia, carrierText, lenient } from './fields.ts'

const sequence = { sequenceNumber: lenient(carrierCount), extra_headers: lenient(z.string().max(4096)) }
const stream = { ...sequence, streamId: lenient(carrierText) }

/** What carrier C sends. It has no greeting before its `start`, and not always a `stop`. */
export const telephonyCFromCarrierSchema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('start'),
    ...sequence,
    start: z.object({
      streamId: carrierText,
      callId: carrierText,
      accountId: lenient(carrierText),
      tracks: lenient(z.array(z.string())),
      mediaFormat: lenient(
        z.object({ encoding: carrierText, sampleRate: carrierCount, channels: lenient(carrierCount) }),
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
    dtmf: z.object({ track: lenient(z.string()), digit: carrierKey, timestamp: lenient(carrierCount) }),
  }),
  z.object({ event: z.literal('playedStream'), ...stream, name: carrierText }),
  // Its older name.
  z.object({ event: z.literal('played'), ...stream, name: carrierText }),
  z.object({ event: z.literal('clearedAudio'), ...stream }),
  z.object({ event: z.literal('stop'), ...stream }),
])
export type TelephonyCFromCarrier = z.infer<typeof telephonyCFromCarrierSchema>

/** What carrier C is sent. */
export const telephonyCToCarrierSchema = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('playAudio'),
    streamId: carrierText,
    media: z.object({ contentType: carrierText, sampleRate: z.number().int(), payload: botPayload }),
  }),
  z.object({ event: z.literal('checkpoint'), streamId: carrierText, name: carrierText }),
  z.object({ event: z.literal('clearAudio'), streamId: carrierText }),
  z.object({ event: z.literal('sendDTMF'), dtmf: z.string().regex(/^[0-9A-D*#]{1,64}$/) }),
])
export type TelephonyCToCarrier = z.infer<typeof telephonyCToCarrierSchema>

/** Spells one message of either side. */
export function encodeTelephonyC(message: TelephonyCFromCarrier | TelephonyCToCarrier): string {
  return JSON.stringify(message)
}
