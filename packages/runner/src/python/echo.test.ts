import { type AudioCoding, type CallReport, PhoneCall } from '@botcli/media/phone'
import { CARRIER_IDS } from '@botcli/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PYTHON_ECHO, pythonProcesses } from '../testing/python-runner.ts'
import { RunnerFixture, until } from '../testing/runner-fixture.ts'
import { toneShare, WebsocketClient } from '../testing/websocket-client.ts'

describe.each(['fork', 'spawn'] as const)('the Python echo bot (%s)', (start) => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(PYTHON_ECHO, { python: { start } })
  })
  afterAll(async () => {
    expect(pythonProcesses().length).toBeGreaterThanOrEqual(1)
    await runner.close()
    expect(pythonProcesses()).toEqual([])
  })

  it('gives back sound, messages, typed text and requests to a WebSocket client', async () => {
    const { wsUrl, sessionId = '' } = await runner.start({ transport: 'websocket' })
    const client = await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`)
    client.sendMessage('client-ready', { version: '2.2.0' })
    expect((await client.message('bot-ready')).data).toMatchObject({ about: { library: 'botcli' } })
    while (client.samples.length < 0.9 * 24_000) await client.sendTone(440, 500)
    const middle = client.samples.slice(4800, 19_200)
    expect(toneShare(middle, 440, 24_000)).toBeGreaterThan(0.9)
    expect(toneShare(middle, 1000, 24_000)).toBeLessThan(0.05)
    client.send({ kind: 'message', data: JSON.stringify({ type: 'mine', id: '1', data: { any: ['ü', 1] } }) })
    expect((await client.message('mine')).data).toEqual({ any: ['ü', 1] })
    client.sendMessage('send-text', { content: 'schön' })
    expect((await client.message('bot-output')).data).toMatchObject({ text: 'schön', spoken: false })
    client.sendMessage('client-message', { t: 'ask', d: [1, 2] })
    expect((await client.message('server-response')).data).toEqual({ t: 'ask', d: [1, 2] })
    const { counters } = await runner.session(sessionId)
    expect(counters).toMatchObject({ badMessages: 0, messagesInDropped: 0, messagesOutDropped: 0 })
    client.close()
    expect((await runner.ended(sessionId)).outcome).toMatchObject({ result: 'ok', cause: 'client_left' })
  })
})

describe('the Python echo bot', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(PYTHON_ECHO)
  })
  afterAll(() => runner.close())

  it.concurrent.each(CARRIER_IDS)('gives back sound and keys to a caller of %s', async (carrier) => {
    const { wsUrl = '' } = await runner.start({ transport: carrier, body: {} })
    const sessionId = /sessions\/([^/]+)\/ws$/.exec(wsUrl)?.[1] ?? ''
    const call = new PhoneCall({ url: wsUrl, carrier, limitMs: 60_000 })
    await until(async () => (await runner.session(sessionId)).state === 'active', 'the call')
    call.add(
      { do: 'tone', hertz: 440, ms: 1000 },
      { do: 'waitForTurn', limitMs: 10_000 },
      { do: 'keys', keys: '5' },
      { do: 'silence', ms: 1000 },
      { do: 'hangUp' },
    )
    const report = await call.ended
    expect(report.violations).toEqual([])
    expect(report.closed).toMatchObject({ by: 'caller' })
    const { ms, purity } = loudPart(report.heard, 440, report.coding)
    // A busy machine makes the echo late, which leaves some of it out.
    expect(ms).toBeGreaterThan(500)
    expect(ms).toBeLessThan(1000 + 300)
    expect(purity).toBeGreaterThan(0.9)
    expect(heardKey(report)).toBe(true)
    expect((await runner.ended(sessionId)).outcome).toMatchObject({ result: 'ok', cause: 'client_left' })
  })
})

/** How much of a sound is loud, and the share of a tone in the first half second of that. */
function loudPart(samples: Int16Array, hertz: number, { rate }: AudioCoding) {
  const size = rate / 100
  let pieces = 0
  for (let at = 0; at + size <= samples.length; at += size) {
    const piece = samples.subarray(at, at + size)
    if (piece.some((sample) => Math.abs(sample) > 2000)) pieces += 1
  }
  const first = samples.findIndex((sample) => Math.abs(sample) > 2000)
  return { ms: pieces * 10, purity: toneShare(samples.subarray(first, first + rate / 2), hertz, rate) }
}

/** Whether a 5 came back: as a key where the carrier has those, else as the two tones of it. */
function heardKey({ carrier, events, heard, coding }: CallReport): boolean {
  if (carrier === 'telephony_c') {
    return events.some((event) => event.type === 'keys_received' && event.keys === '5')
  }
  const size = coding.rate / 20
  return Array.from({ length: Math.floor(heard.length / size) }, (_, at) =>
    heard.subarray(at * size, (at + 1) * size),
  ).some((piece) => [770, 1336].every((hertz) => toneShare(piece, hertz, coding.rate) > 0.2))
}
