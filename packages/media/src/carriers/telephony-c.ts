import { encodeTelephonyC, type TelephonyCFromCarrier, telephonyCFromCarrierSchema } from '@botcli/protocol'
import { type CarrierCodecName, codingOf } from './coding.ts'
import { headersOf, numbersOf } from './custom.ts'
import { type CarrierDialect, type CarrierEvent, countOf, mediaEvent, otherEvent } from './dialect.ts'

const EVENTS = ['start', 'media', 'dtmf', 'playedStream', 'played', 'clearedAudio', 'stop']
const CONTENT_TYPES: Readonly<Record<CarrierCodecName, string>> = {
  pcmu: 'audio/x-mulaw',
  pcma: 'audio/x-alaw',
  l16: 'audio/x-l16',
}

/** Carrier C: begins with its `start`, says with each piece how it is coded, and can press keys. */
export const telephonyC: CarrierDialect = {
  transport: 'telephony_c',

  read(message) {
    const { data } = telephonyCFromCarrierSchema.safeParse(message)
    return data === undefined ? otherEvent(message, EVENTS) : eventOf(data)
  },

  media: ({ streamId, speaks: { codec, rate } }, payload) =>
    encodeTelephonyC({
      event: 'playAudio',
      streamId,
      media: { contentType: CONTENT_TYPES[codec], sampleRate: rate, payload },
    }),
  clear: ({ streamId }) => encodeTelephonyC({ event: 'clearAudio', streamId }),
  mark: ({ streamId }, name) => encodeTelephonyC({ event: 'checkpoint', streamId, name }),
  dtmf: (keys) => encodeTelephonyC({ event: 'sendDTMF', dtmf: keys }),
}

function eventOf(message: TelephonyCFromCarrier): CarrierEvent {
  switch (message.event) {
    case 'start':
      return startOf(message)
    case 'media':
      return mediaEvent(message.streamId, message.media)
    case 'dtmf':
      return { kind: 'dtmf', streamId: message.streamId, keys: message.dtmf.digit }
    case 'playedStream':
    case 'played':
      return { kind: 'played', streamId: message.streamId, mark: message.name }
    case 'clearedAudio':
      return { kind: 'ignored' }
    case 'stop':
      return { kind: 'stopped', streamId: message.streamId }
  }
}

function startOf(message: Extract<TelephonyCFromCarrier, { event: 'start' }>): CarrierEvent {
  const { start } = message
  const { encoding, sampleRate, channels } = start.mediaFormat ?? { encoding: 'l16', sampleRate: 8000 }
  const coding = codingOf({ encoding, rate: Number(sampleRate), channels: countOf(channels) })
  if (typeof coding === 'string') return { kind: 'refused', reason: coding }
  const custom = headersOf(message.extra_headers)
  return {
    kind: 'started',
    streamId: start.streamId,
    start: {
      callId: start.callId,
      streamId: start.streamId,
      ...numbersOf(withPlus(custom)),
      custom,
      hears: coding,
      speaks: coding,
    },
  }
}

/** A plus sign has no place in its headers, so our own answer to its webhook leaves it out of numbers. */
function withPlus(custom: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(custom).map(([name, value]) => [
      name,
      /^[1-9]\d{6,14}$/.test(value) ? `+${value}` : value,
    ]),
  )
}
