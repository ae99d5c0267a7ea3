import { encodeTelephonyC, type TelephonyCToCarrier, telephonyCToCarrierSchema } from '@botcli/protocol'
import type { AudioCoding } from '../carriers/coding.ts'
import { type CallSetup, hexId, type Order, orderOf, type PhoneDialect } from './dialect.ts'

const NO_HEADERS = '{}'

/** Carrier C. It has no greeting, carries parameters in one line, and forgets marks that a clear drops. */
export const phoneC: PhoneDialect = {
  carrier: 'telephony_c',
  packetMs: 20,
  codings: [
    { codec: 'pcmu', rate: 8000 },
    { codec: 'l16', rate: 8000 },
    { codec: 'l16', rate: 16_000 },
  ],
  marksOnClear: false,
  ids: () => ({ callId: crypto.randomUUID(), streamId: crypto.randomUUID(), accountId: hexId('MA') }),
  expects: (coding) => coding,
  greeting: [],

  start: ({ streamId, callId, accountId, from, to, custom, coding }, sequence) =>
    encodeTelephonyC({
      event: 'start',
      sequenceNumber: sequence,
      start: {
        callId,
        streamId,
        accountId,
        tracks: ['inbound'],
        mediaFormat: { encoding: contentType(coding), sampleRate: coding.rate },
      },
      extra_headers: Object.entries({ from_number: from, to_number: to, ...custom })
        .map(([name, value]) => `${name}=${value}`)
        .join(';'),
    }),
  media: ({ streamId }, sequence, { chunk, atMs, payload }) =>
    encodeTelephonyC({
      event: 'media',
      sequenceNumber: sequence,
      streamId,
      media: { track: 'inbound', timestamp: String(atMs), chunk, payload },
      extra_headers: NO_HEADERS,
    }),
  key: ({ streamId }, sequence, digit, atMs) =>
    encodeTelephonyC({
      event: 'dtmf',
      sequenceNumber: sequence,
      streamId,
      dtmf: { track: 'inbound', digit, timestamp: String(atMs) },
      extra_headers: NO_HEADERS,
    }),
  played: ({ streamId }, sequence, name) =>
    encodeTelephonyC({ event: 'playedStream', sequenceNumber: sequence, streamId, name }),
  cleared: ({ streamId }, sequence) =>
    encodeTelephonyC({ event: 'clearedAudio', sequenceNumber: sequence, streamId }),
  stop: ({ streamId }, sequence) => encodeTelephonyC({ event: 'stop', sequenceNumber: sequence, streamId }),

  read: (setup, message) =>
    orderOf(
      telephonyCToCarrierSchema.safeParse(message),
      setup.streamId,
      (order) => (order.event === 'sendDTMF' ? undefined : order.streamId),
      (order) => understand(setup, order),
    ),
}

function understand({ coding }: CallSetup, order: TelephonyCToCarrier): Order {
  switch (order.event) {
    case 'playAudio': {
      const { contentType: type, sampleRate, payload } = order.media
      if (type === contentType(coding) && sampleRate === coding.rate) return { kind: 'media', payload }
      const wanted = `${contentType(coding)} at ${coding.rate} Hz`
      return { kind: 'violation', message: `Sound is ${type} at ${sampleRate} Hz on a stream of ${wanted}` }
    }
    case 'checkpoint':
      return { kind: 'mark', name: order.name }
    case 'clearAudio':
      return { kind: 'clear' }
    case 'sendDTMF':
      return { kind: 'keys', keys: order.dtmf }
  }
}

function contentType({ codec }: AudioCoding): string {
  return codec === 'l16' ? 'audio/x-l16' : 'audio/x-mulaw'
}
