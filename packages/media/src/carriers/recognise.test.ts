import { CARRIER_IDS } from '@botcli/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { WebSocket, WebSocketServer } from 'ws'
import { socketPair } from '../testing/carrier-pair.ts'
import { SCRIPT_A, SCRIPT_B, SCRIPT_C, SCRIPTS } from '../testing/carrier-scripts.ts'
import { until } from '../testing/until.ts'
import { recognise } from './recognise.ts'

let server: WebSocketServer
let carrier: WebSocket
let closed: { code: number; reason: string } | undefined

async function begin({ limitMs = 10_000, evals = false, passThrough = false } = {}) {
  const pair = await socketPair()
  server = pair.server
  carrier = pair.carrier
  closed = undefined
  carrier.on('close', (code, reason) => {
    closed = { code, reason: reason.toString() }
  })
  const abort = new AbortController()
  const greeting = recognise(pair.websocket, {
    served: CARRIER_IDS,
    evals,
    passThrough,
    clock: () => 42,
    signal: abort.signal,
    limitMs,
  })
  // The test looks at it later, and a rejection must not be unseen until then.
  greeting.catch(() => {})
  return { greeting, abort, websocket: pair.websocket }
}

afterEach(async () => {
  carrier.terminate()
  await new Promise((resolve) => server.close(resolve))
})

const send = (...messages: unknown[]) => {
  for (const message of messages) carrier.send(JSON.stringify(message))
}

/** Waits for the refusal, on both sides. */
async function refusal(greeting: Promise<unknown>): Promise<string> {
  const error: unknown = await greeting.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ name: 'MediaError', code: 'invalid_call' })
  await until('the carrier is told', () => closed !== undefined)
  return (error as Error).message
}

describe('a carrier', () => {
  it.each(SCRIPTS)('is recognised: $transport', async (script) => {
    const { greeting } = await begin()
    send(...script.greeting, script.start())
    expect(await greeting).toMatchObject({
      kind: 'call',
      dialect: { transport: script.transport },
      start: { callId: script.callId },
    })
  })

  it('loses nothing of what it sent around its start', async () => {
    const { greeting, websocket } = await begin()
    const before = SCRIPT_C.media(1, 'AAAA')
    const after = [2, 3, 4].map((chunk) => SCRIPT_C.media(chunk, 'AAAA'))
    carrier.send('no JSON')
    carrier.send(Buffer.of(1, 2))
    send(before, SCRIPT_C.start())
    const { opening, takeOver } = await greeting
    let read = 0
    websocket.on('message', () => {
      read += 1
    })
    send(...after)
    await until('the rest has come', () => read === 3)
    const messages = [...opening, ...takeOver()]
    expect(messages.map(({ json }) => json)).toEqual([
      undefined,
      undefined,
      before,
      SCRIPT_C.start(),
      ...after,
    ])
    expect(messages.map(({ isBinary }) => isBinary)).toEqual([false, true, ...Array(5).fill(false)])
    expect(messages[0]?.data.toString()).toBe('no JSON')
    expect(messages.every(({ arrivedAt }) => arrivedAt === 42)).toBe(true)
  })

  it('is refused with the reason of the door, where that is not a matter of the carrier', async () => {
    const { websocket, carrier: far, server: listening } = await socketPair()
    carrier = far
    server = listening
    closed = undefined
    far.on('close', (code, reason) => {
      closed = { code, reason: reason.toString() }
    })
    const { signal } = new AbortController()
    const whyOnly = 'Only evals may come in here.'
    const door = { served: [], whyOnly, evals: true, passThrough: false }
    const greeting = recognise(websocket, { ...door, clock: () => 1, signal })
    greeting.catch(() => {})
    send(SCRIPT_C.start())
    expect(await refusal(greeting)).toBe(whyOnly)
    expect(closed).toEqual({ code: 1008, reason: whyOnly })
  })

  it('is refused when it speaks no language that is known', async () => {
    const { greeting } = await begin()
    for (let count = 0; count < 10; count += 1) send({ event: 'media', media: { payload: 'AAAA' } })
    expect(await refusal(greeting)).toContain('None of the first 10 messages')
    expect(closed?.code).toBe(1008)
    expect(closed?.reason).toContain('None of the first 10 messages')
  })

  it('is refused when it says nothing', async () => {
    const { greeting } = await begin({ limitMs: 50 })
    send(...SCRIPT_A.greeting)
    expect(await refusal(greeting)).toBe('No carrier began a call within 0.05 seconds.')
    expect(closed?.code).toBe(1008)
  })

  it('is refused when its sound cannot be understood, with the reason', async () => {
    const { greeting } = await begin()
    send(SCRIPT_B.start({ encoding: 'AMR-WB', rate: 16_000 }))
    expect(await refusal(greeting)).toContain('PCMU, PCMA or L16')
    expect(closed?.reason).toContain('AMR-WB')
  })

  it('may leave before it began', async () => {
    const { greeting } = await begin()
    carrier.close(1000)
    expect(await refusal(greeting)).toBe('The caller left before its call began.')
  })

  it('is told when nobody waits for it any more', async () => {
    const { greeting, abort, websocket } = await begin()
    abort.abort({ result: 'ok', cause: 'shutdown', message: 'The runner shuts down.' })
    expect(await refusal(greeting)).toBe('The runner shuts down.')
    expect(closed).toEqual({ code: 1012, reason: 'The runner shuts down.' })
    expect(websocket.listenerCount('message')).toBe(0)
  })
})

describe('an eval', () => {
  const connect = {
    label: 'rtvi-ai',
    type: 'client-message',
    id: 'eval-connect',
    data: { t: 'eval-connect', d: { skip_tts: true } },
  }

  it('is recognised by its first message alone, where evals are let in', async () => {
    const { greeting } = await begin({ evals: true })
    send(connect)
    const { kind, opening } = await greeting
    expect(kind).toBe('eval')
    expect(opening.map(({ data }) => data.toString())).toEqual([JSON.stringify(connect)])
  })

  it('is refused where evals are not let in', async () => {
    const { greeting } = await begin()
    send(connect)
    expect(await refusal(greeting)).toContain('only from this machine')
    expect(closed).toMatchObject({ code: 1008, reason: expect.stringContaining('--evals') })
  })

  it.each([
    ['is of another kind', [{ ...connect, data: { t: 'other' } }]],
    ['has no label', [{ ...connect, label: undefined }]],
    ['has no data', [{ ...connect, data: null }]],
  ])('is none when it %s', async (_, messages) => {
    const { greeting } = await begin({ evals: true, limitMs: 200 })
    send(...messages)
    expect(await refusal(greeting)).toContain('No carrier began a call')
  })

  it.each([false, true])(
    'is refused when it does not come first (passed through: %s)',
    async (passThrough) => {
      const { greeting } = await begin({ evals: true, passThrough })
      send({ event: 'connected' }, connect)
      expect(await refusal(greeting)).toContain('first message')
      expect(closed?.code).toBe(1008)
    },
  )

  it('is refused also when it looks like a call', async () => {
    const { greeting } = await begin({ passThrough: true })
    send({ ...SCRIPT_A.start(), ...connect })
    expect(await refusal(greeting)).toContain('--evals')
  })
})

describe('what a bot is going to read itself', () => {
  const connect = '{"label":"rtvi-ai","type":"client-message","id":"1","data":{"t":"eval-connect","d":{}}}'

  it.each([
    ['bytes', Buffer.from(connect), true],
    ['bytes that are a greeting', Buffer.from('{"event":"connected"}'), true],
    ['JSON of another dialect', Buffer.from(connect.replace('"id":"1"', '"id":NaN')), false],
    ['no UTF-8', Buffer.of(0x7b, 0xff, 0xfe), false],
    ['a greeting that is no UTF-8', Buffer.from('{"event":"connected","x":"\xff"}', 'latin1'), false],
    ['nothing', Buffer.alloc(0), false],
    ['no object', Buffer.from('["connected"]'), false],
    ['an event that no carrier has', Buffer.from('{"event":"hello"}'), false],
    ['a greeting that others take for a start', Buffer.from('{"event":"connected","start":{}}'), false],
  ])('is all understood: it does not begin with %s', async (_, first, binary) => {
    for (const evals of [false, true]) {
      const { greeting } = await begin({ passThrough: true, evals })
      carrier.send(first, { binary })
      carrier.send(connect)
      send(...SCRIPT_A.greeting, SCRIPT_A.start())
      expect(await refusal(greeting)).toBe('Before the call began there was a message that no carrier sends.')
      expect(closed?.code).toBe(1008)
      carrier.terminate()
      await new Promise((resolve) => server.close(resolve))
    }
    await begin()
  })

  it.each(SCRIPTS)('is what $transport says', async (script) => {
    const { greeting } = await begin({ passThrough: true })
    const texts = [...script.greeting, script.start()].map((message) => JSON.stringify(message))
    for (const text of texts) carrier.send(text)
    const { kind, opening } = await greeting
    expect(kind).toBe('call')
    expect(opening.map(({ data }) => data.toString())).toEqual(texts)
  })
})
