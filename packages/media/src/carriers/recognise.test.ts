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

async function begin(limitMs = 10_000) {
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
    const { dialect, start } = await greeting
    expect(dialect.transport).toBe(script.transport)
    expect(start.callId).toBe(script.callId)
  })

  it('loses nothing of what it sent around its start', async () => {
    const { greeting, websocket } = await begin()
    const before = SCRIPT_C.media(1, 'AAAA')
    const after = [2, 3, 4].map((chunk) => SCRIPT_C.media(chunk, 'AAAA'))
    carrier.send('no JSON')
    carrier.send(Buffer.of(1, 2))
    send(before, SCRIPT_C.start())
    const { takeOver } = await greeting
    let read = 0
    websocket.on('message', () => {
      read += 1
    })
    send(...after)
    await until('the rest has come', () => read === 3)
    const messages = takeOver()
    expect(messages.map(({ json }) => json)).toEqual([undefined, undefined, before, ...after])
    expect(messages.every(({ arrivedAt }) => arrivedAt === 42)).toBe(true)
  })

  it('is refused when it speaks no language that is known', async () => {
    const { greeting } = await begin()
    for (let count = 0; count < 10; count += 1) send({ event: 'media', media: { payload: 'AAAA' } })
    expect(await refusal(greeting)).toContain('None of the first 10 messages')
    expect(closed?.code).toBe(1008)
    expect(closed?.reason).toContain('None of the first 10 messages')
  })

  it('is refused when it says nothing', async () => {
    const { greeting } = await begin(50)
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
