import { encodeTelephonyB, type TelephonyBFromCarrier, telephonyBFromCarrierSchema } from '@botcli/protocol'
import { codingOf } from './coding.ts'
import { customOf } from './custom.ts'
import { type CarrierDialect, type CarrierEvent, countOf, mediaEvent, otherEvent } from './dialect.ts'

const EVENTS = ['connected', 'start', 'media', 'dtmf', 'mark', 'error', 'stop']

/** Carrier B: needs no stream id in what it is sent, and complains in a message of its own. */
export const telephonyB: CarrierDialect = {
  transport: 'telephony_b',

  read(message) {
    const { data } = telephonyBFromCarrierSchema.safeParse(message)
    return data === undefined ? otherEvent(message, EVENTS) : eventOf(data)
  },

  media: (_, payload) => encodeTelephonyB({ event: 'media', media: { payload } }),
  clear: () => encodeTelephonyB({ event: 'clear' }),
  mark: (_, name) => encodeTelephonyB({ event: 'mark', mark: { name } }),
}

function eventOf(message: TelephonyBFromCarrier): CarrierEvent {
  switch (message.event) {
    case 'connected':
      return { kind: 'ignored' }
    case 'start':
      return startOf(message)
    case 'media':
      return mediaEvent(message.stream_id, message.media)
    case 'dtmf':
      return { kind: 'dtmf', streamId: message.stream_id, keys: message.dtmf.digit }
    case 'mark':
      return { kind: 'played', streamId: message.stream_id, mark: message.mark.name }
    case 'error': {
      const { code, title, detail } = message.payload ?? {}
      return { kind: 'fault', message: [code, title, detail].filter(Boolean).join(' ') }
    }
    case 'stop':
      return { kind: 'stopped', streamId: message.stream_id }
  }
}

function startOf(message: Extract<TelephonyBFromCarrier, { event: 'start' }>): CarrierEvent {
  const { stream_id: streamId, start } = message
  const { encoding, sample_rate, channels } = start.media_format ?? { encoding: 'pcmu', sample_rate: 8000 }
  const coding = codingOf({ encoding, rate: Number(sample_rate), channels: countOf(channels) })
  if (typeof coding === 'string') return { kind: 'refused', reason: coding }
  // What it sends is the payload of RTP, as it is.
  const hears = coding.codec === 'l16' ? { ...coding, bigEndian: true } : coding
  return {
    kind: 'started',
    streamId,
    start: {
      callId: start.call_control_id,
      streamId,
      ...(start.from && { from: start.from }),
      ...(start.to && { to: start.to }),
      custom: customOf(start.custom_parameters),
      hears,
      // It never says what it expects. A narrow band stream takes PCMU unless told otherwise, also when the
      // caller's own line is PCMA; whoever asks for linear sound asks for it both ways.
      speaks: hears.codec === 'l16' ? hears : { codec: 'pcmu', rate: 8000 },
    },
  }
}
