import { afterEach, describe, expect, it } from 'vitest'
import { createTransport } from './create-transport.ts'
import { type Running, START, startBot, until } from './testing/test-host.ts'
import type { AudioFrame, EndReason, Transport, TransportParams } from './transport.ts'

let running: Running | undefined

afterEach(async () => {
  running?.host.port.close()
  await running?.done
  running = undefined
})

/** A session whose bot does nothing by itself: the test holds its transport. */
async function open(params: TransportParams = {}): Promise<Running & { readonly transport: Transport }> {
  let made: Transport | undefined
  running = await startBot(async (args) => {
    const transport = await createTransport(args, { webrtc: () => ({ audioOutSampleRate: 8000, ...params }) })
    made = transport
    await new Promise((resolve) => transport.on('ended', resolve))
  })
  await running.host.message('format')
  return { ...running, transport: await until(() => made) }
}

/** Samples that can be told apart. */
function ramp(length: number, first = 0): Int16Array {
  return Int16Array.from({ length }, (_, index) => first + index)
}

/** Lets everything that is under way arrive at both ends. */
async function settle({ host }: Running, id: number): Promise<void> {
  host.send({ type: 'ping', id })
  await until(() => host.messages.some((message) => message.type === 'pong' && message.id === id))
}

describe('sound to the caller', () => {
  it('waits for credit, and is sent in order and in pieces of 100 ms at most', async () => {
    const session = await open()
    const { host, transport } = session
    const samples = ramp(2000)
    await transport.sendAudio(samples)
    samples.fill(-1)
    await settle(session, 1)
    expect(host.sound).toEqual([])
    expect(transport.queuedMs).toBe(250)

    host.port.laterPlayback(0, 0, 900)

    host.port.flush()
    await until(() => host.sound.length === 2)
    host.port.laterPlayback(0, 400, 5000)
    host.port.flush()
    await until(() => host.sound.length === 4)
    expect(host.sound.map((frame) => frame.samples.length)).toEqual([800, 100, 800, 300])
    expect(host.sound.flatMap((frame) => [...frame.samples])).toEqual([...ramp(2000)])
    expect(transport.playedMs).toBe(50)
    expect(transport.queuedMs).toBe(200)
  })

  it('lets the bot be a second ahead, and no more', async () => {
    const session = await open()
    const { host, transport } = session
    await transport.sendAudio(ramp(8000))
    let goesOn = false
    const sent = transport.sendAudio(ramp(800)).then(() => {
      goesOn = true
    })
    host.port.laterPlayback(0, 0, 8000)
    host.port.flush()
    await settle(session, 1)
    expect(goesOn).toBe(false)
    host.port.laterPlayback(0, 800, 8800)
    host.port.flush()
    await sent
  })

  it('refuses more when a minute waits, and takes any length at once', async () => {
    const { transport } = await open()
    void transport.sendAudio(new Int16Array(8000 * 61))
    await expect(transport.sendAudio(ramp(1))).rejects.toMatchObject({ code: 'flooded' })
  })

  it('refuses what is not samples', async () => {
    const { transport } = await open()
    const bytes = Buffer.alloc(320) as unknown as Int16Array
    await expect(transport.sendAudio(bytes)).rejects.toMatchObject({ code: 'invalid_audio' })
  })

  it('is drained when the host has played all of it', async () => {
    const session = await open()
    const { host, transport } = session
    await transport.drained()
    await transport.sendAudio(ramp(160))
    let drained = false
    const silence = transport.drained().then(() => {
      drained = true
    })
    host.port.laterPlayback(0, 0, 160)
    host.port.flush()
    await settle(session, 1)
    host.port.laterPlayback(0, 159, 160)
    host.port.flush()
    await settle(session, 2)
    expect(drained).toBe(false)
    host.port.laterPlayback(0, 160, 320)
    host.port.flush()
    await silence
    expect(transport.queuedMs).toBe(0)
  })

  it('is cleared: waiting sound is dropped, and the position comes from the host', async () => {
    const session = await open()
    const { host, transport } = session
    const blocked = transport.sendAudio(ramp(16_000))
    host.port.laterPlayback(0, 0, 800)
    host.port.flush()
    await until(() => host.sound.length === 1)
    const cleared = transport.clear()
    await blocked
    await transport.drained()
    expect(await host.message('clear')).toEqual({ type: 'clear', epoch: 1 })

    // Credit and position of the old epoch mean nothing to the new one.
    host.port.laterPlayback(0, 400, 5000)
    host.port.flush()
    await transport.sendAudio(ramp(80, 7))
    await settle(session, 1)
    expect(host.sound.length).toBe(1)
    host.send({ type: 'cleared', epoch: 1, playedSamples: 480 })
    expect(await cleared).toEqual({ playedMs: 60 })
    expect(transport.playedMs).toBe(0)
    host.port.laterPlayback(1, 0, 80)
    host.port.flush()
    await until(() => host.sound.length === 2)
    expect(host.sound[1]).toEqual({ kind: 'audioOut', epoch: 1, samples: ramp(80, 7) })
  })

  it('has nothing to clear when nothing was sent', async () => {
    const session = await open()
    expect(await session.transport.clear()).toEqual({ playedMs: 0 })
    await settle(session, 1)
    expect(session.host.messages.some(({ type }) => type === 'clear')).toBe(false)
  })

  it('holds nobody up when the session ends', async () => {
    const { host, transport } = await open()
    const waits = [transport.sendAudio(ramp(16_000)), transport.drained(), transport.clear()]
    void transport.sendAudio(ramp(16_000))
    host.send({ type: 'cancel', cause: 'client_left', message: 'the caller left', deadlineMs: 5000 })
    await Promise.all(waits)
    await expect(transport.sendAudio(ramp(1))).rejects.toMatchObject({ code: 'session_ended' })
    expect((await host.message('end')).outcome).toBe('returned')
  })
})

describe('sound from the caller', () => {
  it('comes as events, and is confirmed at least every five frames', async () => {
    const { host, transport } = await open()
    const frames: AudioFrame[] = []
    transport.on('audio', (frame) => frames.push(frame))
    for (let index = 0; index < 12; index += 1) host.port.sendAudioIn(index * 20, ramp(320, index))
    await until(() => frames.length === 12)
    expect(frames[11]).toEqual({ samples: ramp(320, 11), sampleRate: 16_000, capturedAt: 220 })
    await until(() => host.heard === 10)
  })

  it('is confirmed to the host only when the reader has taken it', async () => {
    const session = await open()
    const { host, transport } = session
    const reader = transport.audio()[Symbol.asyncIterator]()
    const first = reader.next()
    for (let index = 0; index < 10; index += 1) host.port.sendAudioIn(index * 20, ramp(320))
    expect((await first).value).toMatchObject({ capturedAt: 0 })
    await settle(session, 1)
    expect(host.heard).toBe(0)
    for (let taken = 1; taken < 5; taken += 1) await reader.next()
    await until(() => host.heard === 5)
    await reader.return?.()
    await until(() => host.heard === 10)
  })

  it('is fresh for a reader that comes late, and dropped before', async () => {
    const session = await open()
    const { host, transport } = session
    for (let index = 0; index < 10; index += 1) host.port.sendAudioIn(index * 20, ramp(320))
    await until(() => host.heard === 10)
    const reader = transport.audio()[Symbol.asyncIterator]()
    const next = reader.next()
    host.port.sendAudioIn(999, ramp(320))
    expect((await next).value).toMatchObject({ capturedAt: 999 })
  })

  it('loses its oldest part when one reader is slower than another', async () => {
    const session = await open()
    const { host, transport } = session
    const slow = transport.audio()[Symbol.asyncIterator]()
    const first = slow.next()
    host.port.sendAudioIn(0, ramp(8))
    expect((await first).value).toMatchObject({ capturedAt: 0 })
    for (let index = 1; index < 150; index += 1) host.port.sendAudioIn(index, ramp(8))
    await settle(session, 1)
    expect((await slow.next()).value).toMatchObject({ capturedAt: 150 - 128 })
  })

  it('ends with the session', async () => {
    const { host, transport } = await open()
    const reading = (async () => {
      for await (const _ of transport.audio());
    })()
    host.send({ type: 'cancel', cause: 'client_left', message: 'the caller left', deadlineMs: 5000 })
    await reading
  })
})

describe('events and messages', () => {
  it('tell when the caller comes, goes and is gone', async () => {
    const { host, transport } = await open()
    const seen: string[] = []
    transport.on('connected', () => seen.push('connected'))
    transport.on('disconnected', () => seen.push('disconnected'))
    host.send({ type: 'connected' })
    await until(() => transport.connected)
    host.send({ type: 'disconnected' })
    await until(() => !transport.connected)
    host.send({ type: 'connected' })
    await until(() => transport.connected)
    const reason = new Promise<EndReason>((resolve) => transport.on('ended', resolve))
    host.send({ type: 'cancel', cause: 'stopped', message: 'stopped by the API', deadlineMs: 5000 })
    expect(await reason).toMatchObject({ cause: 'stopped', message: 'stopped by the API' })
    expect(seen).toEqual(['connected', 'disconnected', 'connected'])
    expect(transport.connected).toBe(false)
    expect(transport.signal.aborted).toBe(true)
  })

  it('tell a late listener the state, and a removed one nothing', async () => {
    const { host, transport } = await open()
    host.send({ type: 'connected' })
    await until(() => transport.connected)
    await new Promise<void>((resolve) => transport.on('connected', resolve))
    let removed = 0
    const listener = (): void => {
      removed += 1
    }
    transport.on('connected', listener).off('connected', listener)
    await Promise.resolve()
    expect(removed).toBe(0)
  })

  it('reach a bot that sets its listeners right after it made its transport', async () => {
    const seen: unknown[] = []
    running = await startBot(async (args) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      const transport = await createTransport(args, { webrtc: () => ({ rtvi: false }) })
      transport.on('connected', () => seen.push('connected'))
      transport.on('message', (message) => seen.push(message))
      transport.on('dtmf', (keys) => seen.push(keys))
      await new Promise((resolve) => transport.on('ended', resolve))
    }, START)
    running.host.send({ type: 'connected' })
    running.host.say({ n: 1 })
    running.host.send({ type: 'dtmf', keys: '1#' })
    await until(() => seen.length === 3)
    expect(seen).toEqual(['connected', { n: 1 }, '1#'])
  })

  it('go out as they are, if every wire can carry them', async () => {
    const { host, transport } = await open()
    transport.sendMessage({ a: [1, null, 'é'] })
    transport.sendDtmf('12*#AD')
    await host.message('dtmf')
    expect(host.said).toEqual([{ a: [1, null, 'é'] }])
    expect(() => transport.sendDtmf('12x')).toThrow(/not 1 to 64 keys/)
    expect(() => transport.sendMessage(undefined)).toThrow(/must be JSON/)
    expect(() => transport.sendMessage(1n)).toThrow(/must be JSON/)
    expect(() => transport.sendMessage('x'.repeat(261_119))).toThrow(
      'a message may have 261120 bytes as JSON; this one has 261121. Send it in parts',
    )
    expect(() => transport.sendMessage('é'.repeat(150_000))).toThrow(/this one has 300002/)
    transport.sendMessage('x'.repeat(261_118))
    await until(() => host.said.length === 2)
  })

  it('fail the session when a listener throws or rejects', async () => {
    for (const listener of [
      () => {
        throw new Error('my listener broke')
      },
      async () => Promise.reject(new Error('my listener broke')),
    ]) {
      const { host, transport } = await open()
      transport.on('dtmf', listener)
      host.send({ type: 'dtmf', keys: '1' })
      expect(await host.message('end')).toMatchObject({
        outcome: 'failed',
        error: { message: 'my listener broke' },
      })
      host.port.close()
    }
  })

  it('end with close(), once everything was played', async () => {
    const session = await open()
    const { host, transport } = session
    await transport.sendAudio(ramp(160))
    const closed = transport.close()
    host.port.laterPlayback(0, 0, 160)
    host.port.flush()
    await settle(session, 1)
    expect(host.messages.some(({ type }) => type === 'end')).toBe(false)
    host.port.laterPlayback(0, 160, 320)
    host.port.flush()
    await closed
    expect((await host.message('end')).outcome).toBe('returned')
  })
})
