import {
  telephonyAToCarrierSchema,
  telephonyBToCarrierSchema,
  telephonyCToCarrierSchema,
  telephonyDToCarrierSchema,
} from '@botcli/protocol'

/** What a carrier was told, whatever its language. */
export type Told =
  | { readonly kind: 'media'; readonly payload: string }
  | { readonly kind: 'clear' }
  | { readonly kind: 'mark'; readonly name: string }
  | { readonly kind: 'dtmf'; readonly keys: string }

/** How sound is written in a `start`. */
export interface ScriptFormat {
  readonly encoding: string
  readonly rate: number
}

/** The messages of one carrier, as its documentation shows them. */
export interface CarrierScript {
  readonly transport: 'telephony_a' | 'telephony_b' | 'telephony_c' | 'telephony_d'
  readonly callId: string
  readonly streamId: string
  /** What it sends by default. */
  readonly format: ScriptFormat
  /** What comes before the start. */
  readonly greeting: readonly object[]
  start(format?: ScriptFormat): object
  media(chunk: number, payload: string): object
  dtmf(digit: string): object
  played(mark: string): object
  stop(): object
  /** Understands what it was sent, and throws where that is not its language. */
  read(text: string): Told
}

export const SCRIPT_A: CarrierScript = {
  transport: 'telephony_a',
  callId: 'CA0123456789abcdef',
  streamId: 'MZ0123456789abcdef',
  format: { encoding: 'audio/x-mulaw', rate: 8000 },
  greeting: [{ event: 'connected', protocol: 'Call', version: '1.0.0' }],
  start: ({ encoding, rate } = SCRIPT_A.format) => ({
    event: 'start',
    sequenceNumber: '1',
    streamSid: SCRIPT_A.streamId,
    start: {
      accountSid: 'AC0123456789abcdef',
      streamSid: SCRIPT_A.streamId,
      callSid: SCRIPT_A.callId,
      tracks: ['inbound'],
      mediaFormat: { encoding, sampleRate: rate, channels: 1 },
      customParameters: { from: '+15550100', to: '+15550199', plan: 'gold' },
    },
  }),
  media: (chunk, payload) => ({
    event: 'media',
    sequenceNumber: String(chunk + 2),
    streamSid: SCRIPT_A.streamId,
    media: { track: 'inbound', chunk: String(chunk), timestamp: String(chunk * 20), payload },
  }),
  dtmf: (digit) => ({
    event: 'dtmf',
    sequenceNumber: '5',
    streamSid: SCRIPT_A.streamId,
    dtmf: { track: 'inbound_track', digit },
  }),
  played: (name) => ({ event: 'mark', sequenceNumber: '4', streamSid: SCRIPT_A.streamId, mark: { name } }),
  stop: () => ({
    event: 'stop',
    sequenceNumber: '9',
    streamSid: SCRIPT_A.streamId,
    stop: { accountSid: 'AC0123456789abcdef', callSid: SCRIPT_A.callId },
  }),
  read: (text) => {
    const message = telephonyAToCarrierSchema.parse(JSON.parse(text))
    if (message.streamSid !== SCRIPT_A.streamId) throw new Error('not its stream')
    if (message.event === 'media') return { kind: 'media', payload: message.media.payload }
    return message.event === 'mark' ? { kind: 'mark', name: message.mark.name } : { kind: 'clear' }
  },
}

export const SCRIPT_B: CarrierScript = {
  transport: 'telephony_b',
  callId: 'v2:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ',
  streamId: '32DE0DEA-53CB-4B21-89A4-9E1819C043BC',
  format: { encoding: 'PCMU', rate: 8000 },
  greeting: [{ event: 'connected', version: '1.0.0' }],
  start: ({ encoding, rate } = SCRIPT_B.format) => ({
    event: 'start',
    sequence_number: '1',
    stream_id: SCRIPT_B.streamId,
    start: {
      user_id: '3E6F995F-85F7-4705-9741-53B116D28237',
      call_control_id: SCRIPT_B.callId,
      call_session_id: 'ff55a038-6f5d-11ef-9692-02420aeffb1f',
      from: '+15550100',
      to: '+15550199',
      tags: ['TAG1', 'TAG2'],
      client_state: 'aGF2ZSBhIG5pY2UgZGF5ID1d',
      custom_parameters: { plan: 'gold' },
      media_format: { encoding, sample_rate: rate, channels: 1 },
    },
  }),
  media: (chunk, payload) => ({
    event: 'media',
    sequence_number: String(chunk + 2),
    stream_id: SCRIPT_B.streamId,
    media: { track: 'inbound', chunk: String(chunk), timestamp: String(chunk * 20), payload },
  }),
  dtmf: (digit) => ({
    event: 'dtmf',
    stream_id: SCRIPT_B.streamId,
    sequence_number: '5',
    occurred_at: '2026-01-12T10:00:00.000Z',
    dtmf: { digit },
  }),
  played: (name) => ({ event: 'mark', sequence_number: '6', stream_id: SCRIPT_B.streamId, mark: { name } }),
  stop: () => ({
    event: 'stop',
    sequence_number: '8',
    stream_id: SCRIPT_B.streamId,
    stop: { user_id: '3E6F995F-85F7-4705-9741-53B116D28237', call_control_id: SCRIPT_B.callId },
  }),
  read: (text) => {
    const message = telephonyBToCarrierSchema.parse(JSON.parse(text))
    if (message.event === 'media') return { kind: 'media', payload: message.media.payload }
    return message.event === 'mark' ? { kind: 'mark', name: message.mark.name } : { kind: 'clear' }
  },
}

export const SCRIPT_C: CarrierScript = {
  transport: 'telephony_c',
  callId: 'b77e021f-1a2b-4c3d-8e9f-0123456789ab',
  streamId: '20170ada-f610-433b-8758-c02a2aab3662',
  format: { encoding: 'audio/x-mulaw', rate: 8000 },
  greeting: [],
  start: ({ encoding, rate } = SCRIPT_C.format) => ({
    sequenceNumber: 0,
    event: 'start',
    start: {
      callId: SCRIPT_C.callId,
      streamId: SCRIPT_C.streamId,
      accountId: 'MA0123456789',
      tracks: ['inbound'],
      mediaFormat: { encoding, sampleRate: rate },
    },
    extra_headers: 'from=+15550100;to=+15550199;plan=gold',
  }),
  media: (chunk, payload) => ({
    sequenceNumber: chunk + 1,
    streamId: SCRIPT_C.streamId,
    event: 'media',
    media: { track: 'inbound', timestamp: String(1_700_000_000_000 + chunk * 20), chunk, payload },
    extra_headers: '{}',
  }),
  dtmf: (digit) => ({
    event: 'dtmf',
    sequenceNumber: 7,
    streamId: SCRIPT_C.streamId,
    dtmf: { track: 'inbound', digit, timestamp: '1700000000000' },
    extra_headers: '{}',
  }),
  played: (name) => ({ event: 'playedStream', streamId: SCRIPT_C.streamId, name }),
  stop: () => ({ event: 'stop', streamId: SCRIPT_C.streamId }),
  read: (text) => {
    const message = telephonyCToCarrierSchema.parse(JSON.parse(text))
    if (message.event === 'sendDTMF') return { kind: 'dtmf', keys: message.dtmf }
    if (message.streamId !== SCRIPT_C.streamId) throw new Error('not its stream')
    if (message.event === 'playAudio') return { kind: 'media', payload: message.media.payload }
    return message.event === 'checkpoint' ? { kind: 'mark', name: message.name } : { kind: 'clear' }
  },
}

export const SCRIPT_D: CarrierScript = {
  transport: 'telephony_d',
  callId: 'c5b0e2f7d9a14f3c',
  streamId: 'a1b2c3d4e5f60718',
  format: { encoding: 'audio/x-raw', rate: 8000 },
  greeting: [{ event: 'connected' }],
  start: ({ encoding, rate } = SCRIPT_D.format) => ({
    event: 'start',
    sequence_number: '1',
    stream_sid: SCRIPT_D.streamId,
    start: {
      stream_sid: SCRIPT_D.streamId,
      call_sid: SCRIPT_D.callId,
      account_sid: 'demo1',
      from: '+15550100',
      to: '+15550199',
      custom_parameters: { plan: 'gold' },
      media_format: { encoding, sample_rate: String(rate), bit_rate: '16' },
    },
  }),
  media: (chunk, payload) => ({
    event: 'media',
    sequence_number: String(chunk + 2),
    stream_sid: SCRIPT_D.streamId,
    media: { chunk: String(chunk), timestamp: String(chunk * 100), payload },
  }),
  dtmf: (digit) => ({
    event: 'dtmf',
    sequence_number: '7',
    stream_sid: SCRIPT_D.streamId,
    dtmf: { digit, duration: '100' },
  }),
  played: (name) => ({ event: 'mark', sequence_number: '15', stream_sid: SCRIPT_D.streamId, mark: { name } }),
  stop: () => ({
    event: 'stop',
    sequence_number: '20',
    stream_sid: SCRIPT_D.streamId,
    stop: { call_sid: SCRIPT_D.callId, account_sid: 'demo1', reason: 'callended' },
  }),
  read: (text) => {
    const message = telephonyDToCarrierSchema.parse(JSON.parse(text))
    if (message.stream_sid !== SCRIPT_D.streamId) throw new Error('not its stream')
    if (message.event === 'media') return { kind: 'media', payload: message.media.payload }
    return message.event === 'mark' ? { kind: 'mark', name: message.mark.name } : { kind: 'clear' }
  },
}

export const SCRIPTS = [SCRIPT_A, SCRIPT_B, SCRIPT_C, SCRIPT_D] as const
