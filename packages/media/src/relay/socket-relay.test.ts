import { afterEach, describe, expect, it } from 'vitest'
import { RELAYED, RelayPair } from '../testing/relay-pair.ts'
import { until } from '../testing/until.ts'

const MIB = 1024 * 1024

let pair: RelayPair
afterEach(() => pair.close())

const settle = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a socket that is passed through', () => {
  it('carries everything as it is, in order, both ways', async () => {
    pair = await RelayPair.open()
    expect(await pair.guest.told('start')).toEqual({ type: 'start', start: RELAYED })
    const all = ['{"no": json', Buffer.of(0, 255, 1), '', '\uFEFFmarked ✓', Buffer.alloc(0), 'x'.repeat(MIB)]
    for (const one of all) pair.client.send(one)
    await until('the bot has it', () => pair.guest.socketMessages.length === 5)
    pair.guest.confirm(5)
    await until('the bot has the rest', () => pair.guest.socketMessages.length === 6)
    expect(
      pair.guest.socketMessages.map((one) => (typeof one === 'string' ? one : Buffer.from(one))),
    ).toEqual(all)
    for (const one of pair.guest.socketMessages) pair.guest.port.sendSocket(one)
    await until('the client has it', () => pair.received.length === 6)
    expect(pair.received).toEqual(all)
    expect(pair.session.report().counters).toMatchObject({ messagesIn: 6, messagesOut: 6, badMessages: 0 })
    expect(pair.states).toEqual(['connected'])
    // The bot sees its wire itself, so there is nothing to tell it.
    expect(pair.guest.messages.map(({ type }) => type)).toEqual(['start'])
  })

  it('keeps what comes before the bot, and gives it first what came before itself', async () => {
    const early = [
      { data: Buffer.from('first'), isBinary: false },
      { data: Buffer.of(2), isBinary: true },
    ]
    pair = await RelayPair.open({ early, joined: false })
    pair.client.send('third')
    await until('it has come', () => pair.session.report().counters.messagesIn === 3)
    pair.join()
    await until('the bot has it', () => pair.guest.socketMessages.length === 3)
    expect(pair.guest.socketMessages).toEqual(['first', Uint8Array.of(2), 'third'])
  })

  it('holds the caller back when the bot is slow, and loses nothing', async () => {
    pair = await RelayPair.open()
    const sent = 3000
    for (let count = 0; count < sent; count += 1) pair.client.send(`${count} ${'x'.repeat(2000)}`)
    await until('the bot has its share', () => pair.guest.socketMessages.length === 100)
    await settle(50)
    expect(pair.guest.socketMessages).toHaveLength(100)
    expect(pair.websocket.isPaused).toBe(true)
    expect(pair.session.report().counters.messagesIn).toBeLessThan(sent / 2)
    for (let confirmed = 0; confirmed < sent; confirmed = pair.guest.socketMessages.length) {
      pair.guest.confirm(pair.guest.socketMessages.length)
      await settle()
    }
    const numbers = pair.guest.socketMessages.map((one) => Number.parseInt(String(one), 10))
    expect(numbers).toEqual(Array.from({ length: sent }, (_, index) => index))
    pair.guest.confirm(sent)
    await until('it is read again', () => !pair.websocket.isPaused)
  })

  it('lets a caller go only when the bot has had all its words, or takes too long', async () => {
    pair = await RelayPair.open({ limits: { lastMessagesMs: 60_000 } })
    for (let count = 0; count < 150; count += 1) pair.client.send(`${count}`)
    pair.client.close(4001, 'done')
    await until('the bot has its share', () => pair.guest.socketMessages.length === 100)
    await settle(50)
    expect(pair.overs).toEqual([])
    pair.guest.confirm(100)
    expect(await pair.over()).toEqual({
      cause: 'client_left',
      message: 'The client closed the connection (code 4001).',
    })
    await until('the bot has the rest', () => pair.guest.socketMessages.length === 150)
  })

  it('does not wait for ever for a bot that takes nothing any more', async () => {
    pair = await RelayPair.open({ limits: { lastMessagesMs: 20 }, joined: false })
    pair.client.send('nobody reads this')
    await until('it has come', () => pair.session.report().counters.messagesIn === 1)
    pair.client.close()
    expect(await pair.over()).toMatchObject({ cause: 'client_left' })
  })

  it('is lost when it breaks, or when nobody answers', async () => {
    pair = await RelayPair.open()
    pair.client.terminate()
    expect(await pair.over()).toMatchObject({ cause: 'client_lost' })
    await pair.close()
    pair = await RelayPair.open({ autoPong: false, limits: { pingMs: 20 } })
    expect(await pair.over()).toEqual({ cause: 'client_lost', message: 'The client stopped answering.' })
  })

  it('is not taken for lost while it is not read', async () => {
    pair = await RelayPair.open({ limits: { pingMs: 20 } })
    for (let count = 0; count < 2000; count += 1) pair.client.send(`${count} ${'x'.repeat(2000)}`)
    await until('it is held back', () => pair.websocket.isPaused)
    await settle(200)
    // Read and held back again and again, with answers behind what was not read.
    for (let confirmed = 0; confirmed < 2000; confirmed = pair.guest.socketMessages.length) {
      pair.guest.confirm(pair.guest.socketMessages.length)
      await settle(10)
    }
    await settle(100)
    expect(pair.overs).toEqual([])
    expect(pair.client.readyState).toBe(pair.client.OPEN)
  })

  it.each([
    ['shutdown', 1012],
    ['bot_returned', 1000],
    ['stopped', 4000],
    ['bot_failed', 1011],
  ] as const)('is closed with the code of its end: %s', async (cause, code) => {
    pair = await RelayPair.open()
    // Also while the caller is held back.
    for (let count = 0; count < 300; count += 1) pair.client.send('x'.repeat(5000))
    await until('it is held back', () => pair.websocket.isPaused)
    await pair.session.close({ result: 'ok', cause, message: 'That is it.' }, 1000)
    expect(pair.websocket.readyState).toBe(pair.websocket.CLOSED)
    expect(await pair.whenClosed()).toEqual({ code, reason: 'That is it.' })
    expect(await pair.guest.told('cancel')).toMatchObject({ cause, message: 'That is it.' })
    expect(pair.overs).toEqual([])
  })

  it('is closed by the bot with its own code, and the bot may go on for a while', async () => {
    pair = await RelayPair.open({ limits: { returnMs: 60_000 } })
    pair.guest.port.sendSocket('bye')
    pair.guest.say({ type: 'socket-close', code: 4321, reason: 'enough' })
    pair.guest.say({ type: 'socket-close', code: 4322, reason: 'again' })
    pair.guest.port.sendSocket('too late')
    expect(await pair.whenClosed()).toEqual({ code: 4321, reason: 'enough' })
    expect(pair.received).toEqual(['bye'])
    expect(pair.overs).toEqual([])
    pair.guest.say({ type: 'end', outcome: 'returned' })
    expect(await pair.over()).toMatchObject({ cause: 'bot_returned', message: 'The bot is done.' })
  })

  it('is over some time after the bot has closed it', async () => {
    pair = await RelayPair.open({ limits: { returnMs: 20 } })
    // What only says that there was no code cannot be sent.
    pair.guest.say({ type: 'socket-close', code: 1006, reason: 'x'.repeat(500) })
    expect((await pair.whenClosed()).code).toBe(1000)
    expect(await pair.over()).toEqual({ cause: 'bot_returned', message: 'The bot closed the connection.' })
  })

  it('is over when the caller takes too little of what the bot sends', async () => {
    pair = await RelayPair.open()
    pair.client.pause()
    for (let count = 0; count < 40; count += 1) pair.guest.port.sendSocket(Buffer.alloc(MIB - 1))
    expect(await pair.over()).toEqual({
      cause: 'bot_flooded',
      message: 'The bot sent more than its caller could take.',
    })
  })

  it.each([
    ['sound', (one: RelayPair) => one.guest.port.sendAudioOut(0, new Int16Array(1)), 'sent sound'],
    ['a confirmation of nothing', (one: RelayPair) => one.guest.confirm(1), 'confirmed more messages'],
    [
      'a format',
      (one: RelayPair) => one.guest.say({ type: 'format', inputRate: 8000, outputRate: 8000 }),
      'said format',
    ],
    ['a message', (one: RelayPair) => one.guest.say({ type: 'message', data: 1 }), 'said message'],
    ['an answer', (one: RelayPair) => one.guest.say({ type: 'answer', id: 1 }), 'said answer'],
  ])('is no place for %s', async (_, deed, words) => {
    pair = await RelayPair.open()
    deed(pair)
    expect(await pair.over()).toEqual({ cause: 'bot_failed', message: expect.stringContaining(words) })
  })

  it('ends with its guest, once', async () => {
    pair = await RelayPair.open()
    pair.guest.stream.end()
    expect(await pair.over()).toMatchObject({ cause: 'bot_exited' })
    pair.client.close()
    await pair.session.close({ result: 'failed', cause: 'bot_exited', message: 'gone' }, 0)
    expect(pair.overs).toHaveLength(1)
  })
})
