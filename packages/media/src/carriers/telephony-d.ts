import {
  encodeTelephonyD,
  TELEPHONY_D_CHUNK_STEP_BYTES,
  TELEPHONY_D_MIN_CHUNK_BYTES,
  type TelephonyDFromCarrier,
  telephonyDFromCarrierSchema,
} from '@botcli/protocol'
import { codingOf } from './coding.ts'
import { customOf } from './custom.ts'
import { type CarrierDialect, type CarrierEvent, mediaEvent, otherEvent } from './dialect.ts'

const EVENTS = ['connected', 'start', 'media', 'dtmf', 'mark', 'stop']

/** Carrier D: linear sound, in pieces of a tenth of a second and more. */
export const telephonyD: CarrierDialect = {
  transport: 'telephony_d',
  chunks: { minBytes: TELEPHONY_D_MIN_CHUNK_BYTES, stepBytes: TELEPHONY_D_CHUNK_STEP_BYTES },

  read(message) {
    const { data } = telephonyDFromCarrierSchema.safeParse(message)
    return data === undefined ? otherEvent(message, EVENTS) : eventOf(data)
  },

  media: ({ streamId }, payload) =>
    encodeTelephonyD({ event: 'media', stream_sid: streamId, media: { payload } }),
  clear: ({ streamId }) => encodeTelephonyD({ event: 'clear', stream_sid: streamId }),
  mark: ({ streamId }, name) => encodeTelephonyD({ event: 'mark', stream_sid: streamId, mark: { name } }),
}

function eventOf(message: TelephonyDFromCarrier): CarrierEvent {
  switch (message.event) {
    case 'connected':
      return { kind: 'ignored' }
    case 'start':
      return startOf(message.start)
    case 'media':
      return mediaEvent(message.stream_sid, message.media)
    case 'dtmf':
      return { kind: 'dtmf', streamId: message.stream_sid, keys: message.dtmf.digit }
    case 'mark':
      return { kind: 'played', streamId: message.stream_sid, mark: message.mark.name }
    case 'stop':
      return { kind: 'stopped', streamId: message.stream_sid }
  }
}

function startOf(start: Extract<TelephonyDFromCarrier, { event: 'start' }>['start']): CarrierEvent {
  const { encoding, sample_rate } = start.media_format ?? { encoding: 'l16', sample_rate: 8000 }
  const coding = codingOf({ encoding, rate: Number(sample_rate) })
  if (typeof coding === 'string') return { kind: 'refused', reason: coding }
  return {
    kind: 'started',
    streamId: start.stream_sid,
    start: {
      callId: start.call_sid,
      streamId: start.stream_sid,
      ...(start.from && { from: start.from }),
      ...(start.to && { to: start.to }),
      custom: customOf(start.custom_parameters),
      hears: coding,
      speaks: coding,
    },
  }
}
