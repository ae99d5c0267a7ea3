import { CLOSE_CODES, decodeClientFrame, encodeClientFrame, rtviMessage } from '@botcli/protocol'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../testing/until.ts'
import { WebsocketPair } from '../testing/websocket-pair.ts'

const FORMAT = { inputRate: 16_000, outputRate: 24_000 }

let pair: WebsocketPair
afterEach(() => pair.close())

function audioFrame(audio: Uint8Array, sampleRate = 16_000, channels = 1): Uint8Array {
  return encodeClientFrame({ kind: 'audio', audio, sampleRate, channels })
}

function bytesOf(...samples: number[]): Uint8Array {
  return new Uint8Array(Int16Array.from(samples).buffer)
}

/** Waits until the wire has read everything that the client sent before. */
async function settled(): Promise<void> {
  const before = pair.messages.length
  pair.client.send(encodeClientFrame({ kind: 'message', data: '"settled"' }))
  await until('the wire has read it', () => pair.messages.slice(before).includes('settled'))
}

describe('sound of a WebSocket client', () => {
  it('is dropped before the bot chose its format', async () => {
    pair = await WebsocketPair.open()
    pair.client.send(audioFrame(bytesOf(1, 2, 3)))
    await settled()
    expect(pair.heard).toEqual([])
    expect(pair.wire.counters.badMessages).toBe(0)
  })

  it('is passed on as it is when the rates are the same', async () => {
    pair = await WebsocketPair.open({ format: FORMAT })
    pair.client.send(audioFrame(bytesOf(1, -2, 32_767, -32_768)))
    await settled()
    expect(pair.heard).toEqual([Int16Array.of(1, -2, 32_767, -32_768)])
  })

  it('is mixed when it is stereo, without running over', async () => {
    pair = await WebsocketPair.open({ format: FORMAT })
    pair.client.send(audioFrame(bytesOf(100, 200, 32_767, 32_767, -32_768, -32_768), 16_000, 2))
    await settled()
    expect(pair.heard).toEqual([Int16Array.of(150, 32_767, -32_768)])
  })

  it('loses the bytes that are no whole sample, and nothing else', async () => {
    pair = await WebsocketPair.open({ format: FORMAT })
    pair.client.send(audioFrame(Uint8Array.of(1, 0, 2)))
    pair.client.send(audioFrame(Uint8Array.of(1, 0, 2, 0, 3, 0), 16_000, 2))
    pair.client.send(audioFrame(Uint8Array.of(1)))
    await settled()
    expect(pair.heard).toEqual([Int16Array.of(1), Int16Array.of(1)])
  })

  it('is resampled to what the bot wants, also when the client changes its rate', async () => {
    pair = await WebsocketPair.open({ format: FORMAT })
    pair.client.send(audioFrame(new Uint8Array(2 * 960), 48_000))
    pair.client.send(audioFrame(new Uint8Array(2 * 160), 8_000))
    await settled()
    expect(pair.heard.map((samples) => samples.length)).toEqual([320, 320])
  })

  it('is counted as nonsense when its rate or its channels are', async () => {
    pair = await WebsocketPair.open({ format: FORMAT })
    const bad: readonly (readonly [number, number])[] = [
      [0, 1],
      [7999, 1],
      [8001, 1],
      [48_050, 1],
      [4_294_967_295, 1],
      [16_000, 0],
      [16_000, 3],
    ]
    for (const [rate, channels] of bad) pair.client.send(audioFrame(bytesOf(1), rate, channels))
    await settled()
    expect(pair.heard).toEqual([])
    expect(pair.wire.counters.badMessages).toBe(bad.length)
  })

  it('may not change its rate without end, because each rate costs a filter', async () => {
    pair = await WebsocketPair.open({ format: FORMAT })
    for (let change = 0; change < 100; change += 1) {
      pair.client.send(audioFrame(new Uint8Array(2 * 960), 24_000 + 50 * change))
    }
    await settled()
    expect(pair.heard.length).toBeLessThanOrEqual(20)
    expect(pair.wire.counters.badMessages).toBeGreaterThanOrEqual(80)
    expect(pair.told).toEqual(['connected'])
  })
})

describe('messages of a WebSocket client', () => {
  it('come in protobuf or as text, and are answered in kind', async () => {
    pair = await WebsocketPair.open()
    pair.client.send(encodeClientFrame({ kind: 'message', data: '{"a":1}' }))
    await until('the message is in', () => pair.messages.length === 1)
    pair.wire.sendMessage({ b: 2 })
    await until('the answer is there', () => pair.received.length === 1)
    expect(decodeClientFrame(pair.received[0]?.data ?? Buffer.of())).toEqual({
      kind: 'message',
      data: '{"b":2}',
    })
    pair.client.send('{"c":3}')
    await until('the text is in', () => pair.messages.length === 2)
    pair.wire.sendMessage({ d: 4 })
    await until('the answer is there', () => pair.received.length === 2)
    expect(pair.received[1]).toEqual({ data: Buffer.from('{"d":4}'), isBinary: false })
    expect(pair.messages).toEqual([{ a: 1 }, { c: 3 }])
  })

  it('may be a text for the bot', async () => {
    pair = await WebsocketPair.open()
    pair.client.send(encodeClientFrame({ kind: 'text', text: 'hello' }))
    await until('the text is in', () => pair.messages.length === 1)
    expect(pair.messages[0]).toMatchObject({ type: 'send-text', data: { content: 'hello' } })
  })

  it('are counted when they make no sense', async () => {
    pair = await WebsocketPair.open()
    pair.client.send('{')
    pair.client.send(Buffer.of(255))
    pair.client.send(Buffer.of())
    pair.client.send(encodeClientFrame({ kind: 'message', data: 'no JSON' }))
    pair.client.send(encodeClientFrame({ kind: 'interruption' }))
    await settled()
    expect(pair.wire.counters.badMessages).toBe(5)
  })
})

describe('what a WebSocket client gets', () => {
  it('is sound at the rate that the published client plays', async () => {
    pair = await WebsocketPair.open({ format: { inputRate: 16_000, outputRate: 16_000 } })
    pair.wire.sendAudio(new Int16Array(320))
    await until('the sound is there', () => pair.received.length === 1)
    const frame = decodeClientFrame(pair.received[0]?.data ?? Buffer.of())
    expect(frame).toMatchObject({ kind: 'audio', sampleRate: 24_000, channels: 1 })
    expect(frame?.kind === 'audio' && frame.audio.length).toBe(960)
  })

  it('is no sound before there is a format', async () => {
    pair = await WebsocketPair.open()
    pair.wire.sendAudio(new Int16Array(320))
    pair.wire.sendMessage('first')
    await until('the message is there', () => pair.received.length > 0)
    expect(decodeClientFrame(pair.received[0]?.data ?? Buffer.of())).toMatchObject({ kind: 'message' })
  })

  it('leaves out sound while it does not read', async () => {
    pair = await WebsocketPair.open({ format: FORMAT })
    pair.client.pause()
    for (let sent = 0; sent < 20_000; sent += 1) pair.wire.sendAudio(new Int16Array(480))
    expect(pair.wire.messageBacklog).toBeLessThan(1024 * 1024)
    pair.client.resume()
  })
})

describe('the end of a WebSocket wire', () => {
  it('tells the client the cause, and first the error when it is one', async () => {
    pair = await WebsocketPair.open()
    pair.wire.close({ result: 'failed', cause: 'bot_failed', message: 'It broke.' })
    pair.wire.close({ result: 'ok', cause: 'stopped', message: 'Never said.' })
    await until('the client is told', () => pair.closed !== undefined)
    expect(pair.closed).toEqual({ code: 1011, reason: 'It broke.' })
    const frame = decodeClientFrame(pair.received[0]?.data ?? Buffer.of())
    expect(frame?.kind === 'message' && JSON.parse(frame.data)).toMatchObject({
      type: 'error',
      data: { message: 'It broke.', fatal: true },
    })
    expect(pair.told).toEqual(['connected'])
  })

  it('is told apart: the client left, or its connection broke', async () => {
    pair = await WebsocketPair.open()
    pair.client.close(1000)
    await until('it is noticed', () => pair.told.length === 2)
    expect(pair.told).toEqual(['connected', 'client_left'])
    await pair.close()
    pair = await WebsocketPair.open()
    pair.client.terminate()
    await until('it is noticed', () => pair.told.length === 2)
    expect(pair.told).toEqual(['connected', 'client_lost'])
  })

  it('comes when a client answers no ping', async () => {
    pair = await WebsocketPair.open({ pingMs: 30, autoPong: false })
    await until('it is noticed', () => pair.told.length === 2)
    expect(pair.told).toEqual(['connected', 'client_lost'])
    await until('the connection is cut', () => pair.closed !== undefined)
    expect(pair.closed?.code).toBe(1006)
  })

  it('does not come while a client answers', async () => {
    pair = await WebsocketPair.open({ pingMs: 30 })
    let pings = 0
    pair.client.on('ping', () => {
      pings += 1
    })
    await until('five pings were sent', () => pings >= 5)
    expect(pair.told).toEqual(['connected'])
  })

  it('sends and tells nothing more', async () => {
    pair = await WebsocketPair.open({ format: FORMAT })
    pair.client.pause()
    pair.wire.close({ result: 'ok', cause: 'bot_returned', message: '' })
    pair.wire.sendMessage({})
    pair.wire.sendAudio(new Int16Array(480))
    pair.client.send('{}')
    pair.client.resume()
    await until('the client is told', () => pair.closed !== undefined)
    expect(pair.received).toEqual([])
    expect(pair.messages).toEqual([])
  })
})

describe('a WebSocket wire under fire', () => {
  it('survives any frames, counts or passes on each, and still carries the next message', async () => {
    pair = await WebsocketPair.open({ format: FORMAT })
    const honest = fc.oneof(
      fc.record({ kind: fc.constant('text' as const), text: fc.string() }),
      fc.record({ kind: fc.constant('message' as const), data: fc.oneof(fc.json(), fc.string()) }),
      fc.record({
        kind: fc.constant('audio' as const),
        audio: fc.uint8Array({ maxLength: 2000 }),
        sampleRate: fc.oneof(fc.constantFrom(8000, 16_000, 48_000), fc.nat()),
        channels: fc.oneof(fc.constantFrom(1, 2), fc.nat()),
      }),
    )
    const mutated = fc
      .tuple(honest, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 5 }), fc.nat(20))
      .map(([frame, changes, cut]) => {
        const bytes = encodeClientFrame(frame).slice()
        for (const [at, value] of changes) bytes[at % bytes.length] = value
        return bytes.subarray(0, Math.max(0, bytes.length - cut))
      })
    const sent = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      mutated,
      honest.map(encodeClientFrame),
      fc.string(),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { maxLength: 20 }), async (frames) => {
        for (const frame of frames) pair.client.send(frame)
        await settled()
        expect(pair.told).toEqual(['connected'])
      }),
      { numRuns: 200 },
    )
    expect(pair.wire.counters.badMessages).toBeGreaterThan(0)
    pair.wire.sendMessage(rtviMessage('still-here'))
    await until('the client hears', () => pair.received.length > 0)
  })

  it.each(['shutdown', 'bot_returned'] as const)(
    'is finished when its client was told: %s',
    async (cause) => {
      pair = await WebsocketPair.open()
      pair.wire.close({ result: 'ok', cause, message: 'That is it.' })
      await pair.wire.finished
      await until('the client is told', () => pair.closed !== undefined)
      expect(pair.closed).toMatchObject({ code: CLOSE_CODES[cause], reason: 'That is it.' })
    },
  )

  it('is finished in the end when its client does not answer, or has gone', async () => {
    pair = await WebsocketPair.open()
    pair.client.pause()
    pair.wire.close({ result: 'ok', cause: 'shutdown', message: 'That is it.' })
    await pair.wire.finished
    await pair.close()
    pair = await WebsocketPair.open()
    pair.client.terminate()
    await pair.wire.finished
    expect(pair.told).toContain('client_lost')
  })
})
