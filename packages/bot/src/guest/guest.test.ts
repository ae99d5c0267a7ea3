import { setTimeout as sleep } from 'node:timers/promises'
import { LINK_VERSION } from '@botcli/protocol'
import { describe, expect, it } from 'vitest'
import { createTransport } from '../create-transport.ts'
import { BotError } from '../errors.ts'
import { runInMemory, START, startBot, until } from '../testing/test-host.ts'
import type { Transport } from '../transport.ts'
import { botOf } from './bot-module.ts'

const CANCEL = { type: 'cancel', cause: 'client_left', message: 'the caller left', deadlineMs: 5000 } as const
const webrtc = () => ({ audioOutSampleRate: 8000 })

describe('a guest', () => {
  it('says hello, loads and is ready', async () => {
    const { host, done } = runInMemory(async () => async () => {}, { pid: 42, runtime: 'node 20' })
    await host.message('ready')
    expect(host.messages).toEqual([
      { type: 'hello', version: LINK_VERSION, runtime: 'node 20', pid: 42 },
      { type: 'ready' },
    ])
    host.port.close()
    expect(await done).toEqual({ ok: true })
  })

  it('says why it could not load, and is done', async () => {
    const { host, done } = runInMemory(() => Promise.reject(new SyntaxError('line 3 is odd')))
    expect(await host.message('load-failed')).toMatchObject({
      error: { name: 'SyntaxError', message: 'line 3 is odd', stack: expect.stringContaining('guest.test') },
    })
    expect(await done).toEqual({ ok: false })
    await until(() => host.closed)
  })

  it('calls the bot with its arguments, and ends when it returns', async () => {
    const seen: unknown[] = []
    const { host, done } = await startBot((args) => {
      seen.push({ ...args })
    })
    expect(await host.message('end')).toEqual({ type: 'end', outcome: 'returned' })
    host.port.close()
    expect(await done).toEqual({ ok: true })
    expect(seen).toMatchObject([{ variant: 'webrtc', sessionId: START.sessionId, body: { name: 'Ada' } }])
  })

  it('lets the caller hear the rest before it ends', async () => {
    const { host } = await startBot(async (args) => {
      const transport = await createTransport(args, { webrtc })
      await transport.sendAudio(new Int16Array(160))
    })
    await host.message('format')
    host.port.laterPlayback(0, 0, 160)
    host.port.flush()
    await until(() => host.sound.length === 1)
    host.send({ type: 'ping', id: 1 })
    await host.message('pong')
    expect(host.messages.some(({ type }) => type === 'end')).toBe(false)
    host.port.laterPlayback(0, 160, 160)
    host.port.flush()
    await host.message('end')
    host.port.close()
  })

  it.each([
    ['an Error', new TypeError('bad thing'), { name: 'TypeError', message: 'bad thing' }],
    ['text', 'just text', { name: 'Error', message: expect.stringContaining("'just text'") }],
    ['nothing', undefined, { name: 'Error', message: expect.stringContaining('undefined') }],
  ])('fails when the bot throws %s', async (_, thrown, error) => {
    const { host, done } = await startBot(async () => {
      throw thrown
    })
    expect(await host.message('end')).toMatchObject({ outcome: 'failed', error })
    host.port.close()
    expect(await done).toMatchObject({ ok: false })
  })

  it('fails when the code breaks outside of the bot, also before a session', async () => {
    const running = await startBot(() => new Promise<void>(() => {}))
    running.guest.fail(new Error('in a timer'))
    expect(await running.host.message('end')).toMatchObject({
      outcome: 'failed',
      error: { message: 'in a timer' },
    })
    running.host.port.close()
    expect(await running.done).toMatchObject({ ok: false })

    const spare = runInMemory(async () => async () => {})
    await spare.host.message('ready')
    spare.guest.fail(new Error('while spare'))
    expect(await spare.host.message('end')).toMatchObject({ error: { message: 'while spare' } })
    spare.host.port.close()

    const loading = runInMemory(() => new Promise(() => {}))
    loading.guest.fail(new Error('while loading'))
    expect(await loading.host.message('load-failed')).toMatchObject({ error: { message: 'while loading' } })
  })

  it('answers pings', async () => {
    const { host } = await startBot(() => new Promise<void>(() => {}))
    host.send({ type: 'ping', id: 7 })
    const pong = await host.message('pong')
    expect(pong.id).toBe(7)
    expect(pong.rss).toBeGreaterThan(1_000_000)
    host.port.destroy()
  })

  it('tells what it was refused for', async () => {
    const { host, done } = runInMemory(async () => async () => {})
    host.send({ type: 'refused', message: 'version 1 is too old' })
    expect(await done).toEqual({ ok: false, message: expect.stringContaining('version 1 is too old') })
  })

  it('breaks off when its host makes no sense', async () => {
    const { host, hostStream, done } = runInMemory(async () => async () => {})
    await host.message('ready')
    hostStream.write(new Uint8Array(5).fill(255))
    expect(await done).toMatchObject({ ok: false, message: expect.stringContaining('the link broke') })
  })

  it('fails, and not its process, when it cannot answer a client', async () => {
    let made: Transport | undefined
    const { host } = await startBot(async (args) => {
      const transport = await createTransport(args, { webrtc })
      made = transport
      await new Promise((resolve) => transport.on('ended', resolve))
    })
    const transport = await until(() => made)
    host.port.pause()
    for (let part = 0; part < 34; part += 1) transport.sendMessage('x'.repeat(252_000))
    host.say({ label: 'rtvi-ai', type: 'client-ready', id: '1', data: { version: '2.1.0' } })
    await until(() => transport.signal.aborted)
    host.port.resume()
    expect(await host.message('end')).toMatchObject({
      error: { message: expect.stringContaining('send fewer') },
    })
    host.port.close()
  })

  it('breaks off when it is started before it is ready', async () => {
    const { host, done } = runInMemory(() => new Promise(() => {}))
    host.send({ type: 'start', start: START })
    expect(await done).toMatchObject({ ok: false, message: expect.stringContaining('not ready') })
  })

  it('forwards what came before the transport, up to a limit', async () => {
    const got: unknown[] = []
    let transport: Transport | undefined
    let goOn = (): void => {}
    const allSent = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { host } = await startBot(async (args) => {
      await allSent
      transport = await createTransport(args, { webrtc })
      transport.on('message', (message) => got.push(message))
      await new Promise((resolve) => transport?.on('ended', resolve))
    })
    for (let index = 0; index < 300; index += 1) host.say(index)
    host.send({ type: 'ping', id: 1 })
    await host.message('pong')
    goOn()
    await until(() => got.length === 256)
    host.say('after')
    await until(() => got.at(-1) === 'after')
    expect(got).toHaveLength(257)
    host.port.destroy()
  })
})

describe('a cancelled guest', () => {
  it('lets the bot finish', async () => {
    let cleanedUp = false
    const { host, done } = await startBot(async (args) => {
      const transport = await createTransport(args, { webrtc })
      for await (const _ of transport.audio());
      await sleep(10)
      cleanedUp = true
    })
    await host.message('format')
    host.send(CANCEL)
    expect(await host.message('end')).toEqual({ type: 'end', outcome: 'returned' })
    expect(cleanedUp).toBe(true)
    host.port.close()
    expect(await done).toEqual({ ok: true })
  })

  it.each([
    ['its signal', (transport: Transport) => sleep(60_000, undefined, { signal: transport.signal })],
    [
      'a failed send',
      async (transport: Transport) => {
        await new Promise((resolve) => transport.on('ended', resolve))
        await transport.sendAudio(new Int16Array(1))
      },
    ],
  ])('takes a bot that stops by %s as returned', async (_, work) => {
    const { host } = await startBot(async (args) => {
      await work(await createTransport(args, { webrtc }))
    })
    await host.message('format')
    host.send(CANCEL)
    expect(await host.message('end')).toEqual({ type: 'end', outcome: 'returned' })
    host.port.close()
  })

  it('still tells when the bot breaks while it cleans up', async () => {
    const { host } = await startBot(async (args) => {
      const transport = await createTransport(args, { webrtc })
      for await (const _ of transport.audio());
      throw new Error('could not save')
    })
    await host.message('format')
    host.send(CANCEL)
    expect(await host.message('end')).toMatchObject({ error: { message: 'could not save' } })
    host.port.close()
  })

  it('does not wait for a bot that does not return in time', async () => {
    const { host, done } = await startBot(() => new Promise<void>(() => {}))
    host.send({ ...CANCEL, deadlineMs: 30 })
    expect(await host.message('end')).toMatchObject({
      outcome: 'failed',
      error: { name: 'BotError', message: expect.stringMatching(/within 30 ms.*transport\.signal/) },
    })
    host.port.close()
    expect(await done).toMatchObject({ ok: false })
  })

  it('ends at once when it is spare', async () => {
    const { host, done } = runInMemory(async () => async () => {})
    await host.message('ready')
    host.send(CANCEL)
    await host.message('end')
    host.port.close()
    expect(await done).toEqual({ ok: true })
  })

  it('takes a lost link for the end, and lets the bot finish', async () => {
    let reason: unknown
    let finished = false
    const { host, hostStream, done } = await startBot(async (args) => {
      const transport = await createTransport(args, { webrtc })
      reason = await new Promise((resolve) => transport.on('ended', resolve))
      await sleep(10)
      finished = true
    })
    await host.message('format')
    hostStream.end()
    expect(await done).toMatchObject({ ok: false, message: expect.stringContaining('link closed') })
    expect(reason).toMatchObject({ cause: 'media_failed' })
    expect(finished).toBe(true)
  })

  it('does not wait for ever for a host that does not close, nor for a bot after close()', async () => {
    const { host, done, lateErrors } = await startBot(
      async (args) => {
        const transport = await createTransport(args, { webrtc })
        await transport.close()
        throw new Error('too late')
      },
      START,
      { graceMs: 30 },
    )
    expect((await host.message('end')).outcome).toBe('returned')
    expect(await done).toEqual({ ok: true })
    expect(lateErrors).toEqual([expect.objectContaining({ message: 'too late' })])
  })
})

describe('botOf', () => {
  it('finds the bot', () => {
    const bot = async () => {}
    expect(botOf({ bot })).toBe(bot)
  })

  it.each([
    [{}, 'it exports nothing'],
    [{ main: 1, default: 2 }, 'it exports main, default'],
    [{ bot: {} }, 'its `bot` is of type object'],
  ])('says what is there instead: %j', (module, found) => {
    expect(() => botOf(module)).toThrow(BotError)
    expect(() => botOf(module)).toThrow(found)
  })
})
