import { encodeTelephonyA, telephonyAToCarrierSchema } from '@botcli/protocol'
import { hexId, orderOf, type PhoneDialect } from './dialect.ts'

/** Carrier A. It tells phone numbers only as parameters that its user set, as our own webhook does. */
export const phoneA: PhoneDialect = {
  carrier: 'telephony_a',
  packetMs: 20,
  codings: [{ codec: 'pcmu', rate: 8000 }],
  marksOnClear: true,
  ids: () => ({ callId: hexId('CA'), streamId: hexId('MZ'), accountId: hexId('AC') }),
  expects: (coding) => coding,
  greeting: [encodeTelephonyA({ event: 'connected', protocol: 'Call', version: '1.0.0' })],

  start: ({ streamId, callId, accountId, from, to, custom, coding }, sequence) =>
    encodeTelephonyA({
      event: 'start',
      sequenceNumber: String(sequence),
      streamSid: streamId,
      start: {
        accountSid: accountId,
        streamSid: streamId,
        callSid: callId,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: coding.rate, channels: 1 },
        customParameters: { from_number: from, to_number: to, ...custom },
      },
    }),
  media: ({ streamId }, sequence, { chunk, atMs, payload }) =>
    encodeTelephonyA({
      event: 'media',
      sequenceNumber: String(sequence),
      streamSid: streamId,
      media: { track: 'inbound', chunk: String(chunk), timestamp: String(atMs), payload },
    }),
  key: ({ streamId }, sequence, digit) =>
    encodeTelephonyA({
      event: 'dtmf',
      sequenceNumber: String(sequence),
      streamSid: streamId,
      dtmf: { track: 'inbound_track', digit },
    }),
  played: ({ streamId }, sequence, name) =>
    encodeTelephonyA({
      event: 'mark',
      sequenceNumber: String(sequence),
      streamSid: streamId,
      mark: { name },
    }),
  stop: ({ streamId, callId, accountId }, sequence) =>
    encodeTelephonyA({
      event: 'stop',
      sequenceNumber: String(sequence),
      streamSid: streamId,
      stop: { accountSid: accountId, callSid: callId },
    }),

  read: ({ streamId }, message) =>
    orderOf(
      telephonyAToCarrierSchema.safeParse(message),
      streamId,
      ({ streamSid }) => streamSid,
      (order) => {
        if (order.event === 'media') return { kind: 'media', payload: order.media.payload }
        return order.event === 'mark' ? { kind: 'mark', name: order.mark.name } : { kind: 'clear' }
      },
    ),
}
