import { describe, expect, it } from 'vitest'
import { SCRIPT_B, SCRIPT_C, SCRIPT_D, SCRIPTS } from '../testing/carrier-scripts.ts'
import type { CarrierDialect, CarrierStart } from './dialect.ts'
import { DIALECTS } from './dialects.ts'
import { telephonyA } from './telephony-a.ts'
import { telephonyB } from './telephony-b.ts'
import { telephonyC } from './telephony-c.ts'
import { telephonyD } from './telephony-d.ts'

const PAIRS = SCRIPTS.map((script) => {
  const dialect = DIALECTS.find(({ transport }) => transport === script.transport)
  if (dialect === undefined) throw new Error(`nobody speaks ${script.transport}`)
  return { name: script.transport, script, dialect }
})

function started(dialect: CarrierDialect, message: object): CarrierStart {
  const event = dialect.read(message)
  if (event.kind !== 'started') throw new Error(`not a start: ${JSON.stringify(event)}`)
  return event.start
}

describe.each(PAIRS)('the dialect of $name', ({ script, dialect }) => {
  const start = started(dialect, script.start())

  it('understands how a call begins', () => {
    for (const message of script.greeting) expect(dialect.read(message)).toEqual({ kind: 'ignored' })
    expect(start).toMatchObject({
      callId: script.callId,
      streamId: script.streamId,
      from: '+15550100',
      to: '+15550199',
      custom: { plan: 'gold' },
      hears: { rate: 8000 },
    })
  })

  it('is the only one that understands it', () => {
    const kinds = DIALECTS.filter((other) => other !== dialect).map(
      (other) => other.read(script.start()).kind,
    )
    expect(kinds).toEqual(['bad', 'bad', 'bad'])
  })

  it('understands sound, keys, marks and the end', () => {
    const { streamId } = script
    expect(dialect.read(script.media(41, 'AAEC'))).toEqual({
      kind: 'media',
      streamId,
      chunk: 41,
      payload: 'AAEC',
    })
    expect(dialect.read(script.dtmf('#'))).toEqual({ kind: 'dtmf', streamId, keys: '#' })
    expect(dialect.read(script.played('said-1'))).toEqual({ kind: 'played', streamId, mark: 'said-1' })
    expect(dialect.read(script.stop())).toEqual({ kind: 'stopped', streamId })
  })

  it('does not take the bot for the caller', () => {
    const message = { event: 'media', media: { track: 'outbound', chunk: '1', payload: 'AAEC' } }
    expect(dialect.read(message)).toEqual({ kind: 'ignored' })
  })

  it('leaves alone what it does not know, and finds what is broken', () => {
    expect(dialect.read({ event: 'something-new', value: 1 })).toEqual({ kind: 'unknown' })
    const broken = [
      undefined,
      null,
      7,
      [],
      'media',
      {},
      { event: 3 },
      { event: 'media' },
      { event: 'media', media: null },
      { event: 'media', media: { payload: 7 } },
      { event: 'media', media: { payload: 'not base64!' } },
      { event: 'dtmf', dtmf: null },
      { event: 'dtmf', dtmf: { digit: 'x' } },
      { event: 'dtmf', dtmf: { digit: '12' } },
      { event: 'start', start: {} },
    ]
    for (const message of broken)
      expect(dialect.read(message), JSON.stringify(message)).toEqual({ kind: 'bad' })
  })

  it('spells what its carrier reads', () => {
    expect(script.read(dialect.media(start, 'AAEC'))).toEqual({ kind: 'media', payload: 'AAEC' })
    expect(script.read(dialect.clear(start))).toEqual({ kind: 'clear' })
    expect(script.read(dialect.mark(start, 'said-1'))).toEqual({ kind: 'mark', name: 'said-1' })
  })

  it('understands linear sound at other rates, and both laws', () => {
    const codings = [
      { encoding: 'audio/x-l16', rate: 16_000, coding: { codec: 'l16', rate: 16_000 } },
      { encoding: 'L16', rate: 24_000, coding: { codec: 'l16', rate: 24_000 } },
      { encoding: 'audio/x-mulaw;rate=8000', rate: 8000, coding: { codec: 'pcmu', rate: 8000 } },
      { encoding: 'PCMA', rate: 8000, coding: { codec: 'pcma', rate: 8000 } },
    ]
    for (const { coding, ...format } of codings) {
      expect(started(dialect, script.start(format)).hears).toMatchObject(coding)
    }
  })

  it('refuses what it cannot decode, and says what to do', () => {
    for (const encoding of ['G722', 'OPUS', 'AMR-WB', 'audio/mpeg', 'constructor']) {
      const event = dialect.read(script.start({ encoding, rate: 8000 }))
      expect(event).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining(`coded as ${encoding},`),
      })
    }
    expect(dialect.read(script.start({ encoding: 'L16', rate: 96_000 }))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('96000 Hz'),
    })
  })
})

describe('what only one carrier has', () => {
  it('A: numbers come as parameters by either name, and a mock needs no more than its ids', () => {
    const ids = { streamSid: 'mock', callSid: 'mock' }
    const bare = started(telephonyA, { event: 'start', start: ids })
    expect(bare).toEqual({
      callId: 'mock',
      streamId: 'mock',
      custom: {},
      hears: { codec: 'pcmu', rate: 8000 },
      speaks: { codec: 'pcmu', rate: 8000 },
    })
    const customParameters = { from_number: '+1', to_number: '+2', deep: { a: 1 }, n: 7, on: true }
    expect(started(telephonyA, { event: 'start', start: { ...ids, customParameters } })).toMatchObject({
      from: '+1',
      to: '+2',
      custom: { from_number: '+1', to_number: '+2', n: '7', on: 'true' },
    })
  })

  it('A: nonsense in what a call can do without does not cost the call', () => {
    const message = {
      event: 'start',
      sequenceNumber: [],
      start: { streamSid: 'MZ1', callSid: 'CA1', mediaFormat: 7, customParameters: null, tracks: 'x' },
    }
    expect(telephonyA.read(message)).toMatchObject({ kind: 'started', start: { hears: { codec: 'pcmu' } } })
  })

  it('B: is answered in PCMU on a PCMA line, and in linear sound when it sends that', () => {
    const pcma = started(telephonyB, SCRIPT_B.start({ encoding: 'PCMA', rate: 8000 }))
    expect(pcma.speaks).toEqual({ codec: 'pcmu', rate: 8000 })
    const linear = started(telephonyB, SCRIPT_B.start({ encoding: 'L16', rate: 16_000 }))
    expect(linear.speaks).toEqual({ codec: 'l16', rate: 16_000, bigEndian: true })
  })

  it('B: complains', () => {
    const payload = { code: 100_003, title: 'malformed_frame', detail: 'why' }
    expect(telephonyB.read({ event: 'error', stream_id: 'x', payload })).toEqual({
      kind: 'fault',
      message: '100003 malformed_frame why',
    })
  })

  it('B: sends one channel, or is refused', () => {
    const message = {
      event: 'start',
      stream_id: 'x',
      start: { call_control_id: 'y', media_format: { encoding: 'L16', sample_rate: 8000, channels: 2 } },
    }
    expect(telephonyB.read(message)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('2 channels'),
    })
  })

  it('C: says how each piece is coded, and presses keys', () => {
    const start = started(telephonyC, SCRIPT_C.start({ encoding: 'audio/x-l16', rate: 16_000 }))
    expect(JSON.parse(telephonyC.media(start, 'AAEC'))).toEqual({
      event: 'playAudio',
      streamId: SCRIPT_C.streamId,
      media: { contentType: 'audio/x-l16', sampleRate: 16_000, payload: 'AAEC' },
    })
    expect(SCRIPT_C.read(telephonyC.dtmf?.('12#') ?? '')).toEqual({ kind: 'dtmf', keys: '12#' })
  })

  it('C: has headers in several spellings, and marks by an older name', () => {
    const lines = [
      'from=+1;plan=gold',
      '{from: +1, plan: gold}',
      '{"from":"+1","plan":"gold"}',
      ' from = +1 ; plan=gold;',
    ]
    for (const extra_headers of lines) {
      const start = started(telephonyC, { ...SCRIPT_C.start(), extra_headers })
      expect(start).toMatchObject({ from: '+1', custom: { from: '+1', plan: 'gold' } })
    }
    expect(telephonyC.read({ event: 'played', streamId: 'x', name: 'm' })).toMatchObject({
      kind: 'played',
      mark: 'm',
    })
  })

  it('D: names its raw samples in several ways', () => {
    for (const encoding of ['audio/x-raw', 'raw/slin', 'base64', 'audio/L16;rate=8000']) {
      expect(started(telephonyD, SCRIPT_D.start({ encoding, rate: 8000 })).hears).toEqual({
        codec: 'l16',
        rate: 8000,
      })
    }
    expect(telephonyD.chunks).toEqual({ minBytes: 3200, stepBytes: 320 })
  })
})
