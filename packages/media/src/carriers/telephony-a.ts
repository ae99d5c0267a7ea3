import { encodeTelephonyA, type TelephonyAFromCarrier, telephonyAFromCarrierSchema } from '@botcli/protocol'
import { codingOf } from './coding.ts'
import { customOf, numbersOf } from './custom.ts'
import { type CarrierDialect, type CarrierEvent, countOf, mediaEvent, otherEvent } from './dialect.ts'

const EVENTS = ['connected', 'start', 'media', 'dtmf', 'mark', 'stop']

/** Carrier A: phone numbers only where the call's parameters tell them. */
export const telephonyA: CarrierDialect = {
  transport: 'telephony_a',

  read(message) {
    const { data } = telephonyAFromCarrierSchema.safeParse(message)
    return data === undefined ? otherEvent(message, EVENTS) : eventOf(data)
  },

  media: ({ streamId }, payload) =>
    encodeTelephonyA({ event: 'media', streamSid: streamId, media: { payload } }),
  clear: ({ streamId }) => encodeTelephonyA({ event: 'clear', streamSid: streamId }),
  mark: ({ streamId }, name) => encodeTelephonyA({ event: 'mark', streamSid: streamId, mark: { name } }),
}

function eventOf(message: TelephonyAFromCarrier): CarrierEvent {
  switch (message.event) {
    case 'connected':
      return { kind: 'ignored' }
    case 'start':
      return startOf(message.start)
    case 'media':
      return mediaEvent(message.streamSid, message.media)
    case 'dtmf':
      return { kind: 'dtmf', streamId: message.streamSid, keys: message.dtmf.digit }
    case 'mark':
      return { kind: 'played', streamId: message.streamSid, mark: message.mark.name }
    case 'stop':
      return { kind: 'stopped', streamId: message.streamSid }
  }
}

function startOf(start: Extract<TelephonyAFromCarrier, { event: 'start' }>['start']): CarrierEvent {
  const { encoding, sampleRate, channels } = start.mediaFormat ?? { encoding: 'pcmu', sampleRate: 8000 }
  const coding = codingOf({ encoding, rate: Number(sampleRate), channels: countOf(channels) })
  if (typeof coding === 'string') return { kind: 'refused', reason: coding }
  const custom = customOf(start.customParameters)
  return {
    kind: 'started',
    streamId: start.streamSid,
    start: {
      callId: start.callSid,
      streamId: start.streamSid,
      ...numbersOf(custom),
      custom,
      hears: coding,
      speaks: coding,
    },
  }
}
