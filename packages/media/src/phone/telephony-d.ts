import {
  encodeTelephonyD,
  TELEPHONY_D_CHUNK_STEP_BYTES,
  TELEPHONY_D_MIN_CHUNK_BYTES,
  telephonyDToCarrierSchema,
} from '@botcli/protocol'
import { hexId, orderOf, type PhoneDialect } from './dialect.ts'

const MAX_PIECE_BYTES = 100 * 1024
const KEY_MS = 100

/** Carrier D. Linear sound in long packets, and rules for the pieces that it is sent. */
export const phoneD: PhoneDialect = {
  carrier: 'telephony_d',
  packetMs: 100,
  codings: [
    { codec: 'l16', rate: 8000 },
    { codec: 'l16', rate: 16_000 },
    { codec: 'l16', rate: 24_000 },
  ],
  pieces: () => ({
    minBytes: TELEPHONY_D_MIN_CHUNK_BYTES,
    stepBytes: TELEPHONY_D_CHUNK_STEP_BYTES,
    maxBytes: MAX_PIECE_BYTES,
  }),
  marksOnClear: true,
  ids: () => ({ callId: hexId(), streamId: hexId(), accountId: 'phone' }),
  expects: (coding) => coding,
  greeting: [encodeTelephonyD({ event: 'connected' })],

  start: ({ streamId, callId, accountId, from, to, custom, coding }, sequence) =>
    encodeTelephonyD({
      event: 'start',
      sequence_number: String(sequence),
      stream_sid: streamId,
      start: {
        stream_sid: streamId,
        call_sid: callId,
        account_sid: accountId,
        from,
        to,
        custom_parameters: { ...custom },
        media_format: { encoding: 'audio/x-raw', sample_rate: String(coding.rate), bit_rate: '16' },
      },
    }),
  media: ({ streamId }, sequence, { chunk, atMs, payload }) =>
    encodeTelephonyD({
      event: 'media',
      sequence_number: String(sequence),
      stream_sid: streamId,
      media: { chunk: String(chunk), timestamp: String(atMs), payload },
    }),
  key: ({ streamId }, sequence, digit) =>
    encodeTelephonyD({
      event: 'dtmf',
      sequence_number: String(sequence),
      stream_sid: streamId,
      dtmf: { digit, duration: String(KEY_MS) },
    }),
  played: ({ streamId }, sequence, name) =>
    encodeTelephonyD({
      event: 'mark',
      sequence_number: String(sequence),
      stream_sid: streamId,
      mark: { name },
    }),
  stop: ({ streamId, callId, accountId }, sequence) =>
    encodeTelephonyD({
      event: 'stop',
      sequence_number: String(sequence),
      stream_sid: streamId,
      stop: { call_sid: callId, account_sid: accountId, reason: 'callended' },
    }),

  read: ({ streamId }, message) =>
    orderOf(
      telephonyDToCarrierSchema.safeParse(message),
      streamId,
      ({ stream_sid }) => stream_sid,
      (order) => {
        if (order.event === 'media') return { kind: 'media', payload: order.media.payload }
        return order.event === 'mark' ? { kind: 'mark', name: order.mark.name } : { kind: 'clear' }
      },
    ),
}
