import { encodeTelephonyB, telephonyBToCarrierSchema } from '@botcli/protocol'
import type { AudioCoding } from '../carriers/coding.ts'
import { hexId, orderOf, type PhoneDialect } from './dialect.ts'

/** It takes pieces of 20 ms to 30 s. */
const MIN_PIECE_MS = 20
const MAX_PIECE_MS = 30_000
const MALFORMED_CODE = 100_003

/** Carrier B. It complains in a message, and expects PCMU back on a line that is PCMA itself. */
export const phoneB: PhoneDialect = {
  carrier: 'telephony_b',
  packetMs: 20,
  codings: [
    { codec: 'pcmu', rate: 8000 },
    { codec: 'pcma', rate: 8000 },
    { codec: 'l16', rate: 8000, bigEndian: true },
    { codec: 'l16', rate: 16_000, bigEndian: true },
  ],
  pieces: (coding) => ({
    minBytes: (MIN_PIECE_MS * coding.rate * sampleBytes(coding)) / 1000,
    stepBytes: sampleBytes(coding),
    maxBytes: (MAX_PIECE_MS * coding.rate * sampleBytes(coding)) / 1000,
  }),
  marksOnClear: true,
  ids: () => ({
    callId: `v2:${hexId()}`,
    streamId: crypto.randomUUID().toUpperCase(),
    accountId: crypto.randomUUID(),
  }),
  expects: (coding) => (coding.codec === 'l16' ? coding : { codec: 'pcmu', rate: 8000 }),
  greeting: [encodeTelephonyB({ event: 'connected', version: '1.0.0' })],

  start: ({ streamId, callId, accountId, from, to, custom, coding }, sequence) =>
    encodeTelephonyB({
      event: 'start',
      sequence_number: String(sequence),
      stream_id: streamId,
      start: {
        user_id: accountId,
        call_control_id: callId,
        call_session_id: callId.slice('v2:'.length),
        from,
        to,
        custom_parameters: { ...custom },
        media_format: { encoding: coding.codec.toUpperCase(), sample_rate: coding.rate, channels: 1 },
      },
    }),
  media: ({ streamId }, sequence, { chunk, atMs, payload }) =>
    encodeTelephonyB({
      event: 'media',
      sequence_number: String(sequence),
      stream_id: streamId,
      media: { track: 'inbound', chunk: String(chunk), timestamp: String(atMs), payload },
    }),
  key: ({ streamId }, sequence, digit) =>
    encodeTelephonyB({
      event: 'dtmf',
      sequence_number: String(sequence),
      stream_id: streamId,
      occurred_at: new Date().toISOString(),
      dtmf: { digit },
    }),
  played: ({ streamId }, sequence, name) =>
    encodeTelephonyB({
      event: 'mark',
      sequence_number: String(sequence),
      stream_id: streamId,
      mark: { name },
    }),
  stop: ({ streamId, callId, accountId }, sequence) =>
    encodeTelephonyB({
      event: 'stop',
      sequence_number: String(sequence),
      stream_id: streamId,
      stop: { user_id: accountId, call_control_id: callId },
    }),

  complaint: ({ streamId }, detail) =>
    encodeTelephonyB({
      event: 'error',
      stream_id: streamId,
      payload: { code: MALFORMED_CODE, title: 'malformed_frame', detail },
    }),

  read: (_, message) =>
    orderOf(
      telephonyBToCarrierSchema.safeParse(message),
      undefined,
      () => undefined,
      (order) => {
        if (order.event === 'media') return { kind: 'media', payload: order.media.payload }
        return order.event === 'mark' ? { kind: 'mark', name: order.mark.name } : { kind: 'clear' }
      },
    ),
}

function sampleBytes({ codec }: AudioCoding): number {
  return codec === 'l16' ? 2 : 1
}
