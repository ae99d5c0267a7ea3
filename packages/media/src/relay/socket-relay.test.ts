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
    for (const one of pair.guest.socketMessages.slice(0, 5)) pair.guest.port.sendSocket(one)
    await until('they have left', () => pair.guest.taken === 5)
    pair.guest.port.sendSocket(all[5] as string)
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

  it('tells the bot what its caller has taken, so that it can wait, and loses nothing', async () => {
    pair = await RelayPair.open()
    pair.client.pause()
    const sent = 300
    let next = 0
    const proceed = () => {
      for (; next < sent && next - pair.guest.taken < 10; next += 1) {
        pair.guest.port.sendSocket(`${next} ${'x'.repeat(100_000)}`)
      }
    }
    // Until the network holds no more.
    for (let before = -1; before < next; ) {
      before = next
      proceed()
      await settle(100)
    }
    expect(next).toBeLessThan(sent)
    expect(pair.guest.taken).toBe(next - 10)
    pair.client.resume()
    while (next < sent) {
      proceed()
      await settle()
    }
    await until('the client has it', () => pair.received.length === sent)
    expect(pair.received.map((one) => Number.parseInt(String(one), 10))).toEqual([...Array(sent).keys()])
    await until('all is confirmed', () => pair.guest.taken === sent)
    expect(pair.overs).toEqual([])
  })

  it('may be fast: neither a bot that keeps to its credit nor one with a fast caller is too loud', async () => {
    let now = 0
    pair = await RelayPair.open({ clock: () => now })
    for (let total = 100; total <= 30_000; total += 100) {
      for (let count = 0; count < 100; count += 1) {
        pair.guest.port.sendSocket('x')
        pair.client.send('x')
      }
      await until('they have arrived', () => pair.guest.socketMessages.length === total)
      for (let count = total - 99; count <= total; count += 1) pair.guest.confirm(count)
      await until('they have left', () => pair.guest.taken === total)
      if (total % 6000 === 0) now += 1000
    }
    expect(pair.overs).toEqual([])
  })

  it.each([
    ['101 messages', 101, MIB / 2, 1],
    ['more than 1 MiB', 2, MIB / 2, MIB / 2 + 1],
  ])('is over when the bot is ahead of its caller by %s', async (_, count, first, bytes) => {
    pair = await RelayPair.open()
    pair.client.pause()
    // Until the network holds no more: then one has not left.
    for (let sent = 0; pair.guest.taken === sent; sent += 1) {
      pair.guest.port.sendSocket(Buffer.alloc(first))
      await settle(100)
    }
    expect(pair.overs).toEqual([])
    for (let more = 1; more < count; more += 1) pair.guest.port.sendSocket(Buffer.alloc(bytes))
    expect(await pair.over()).toEqual({
      cause: 'bot_flooded',
      message: "The bot's process sent more than its caller had taken.",
    })
  })

  it('is not taken for lost while its caller is slow, but still takes something', async () => {
    // One that comes to none of the pings, because of all that is before them.
    pair = await RelayPair.open({ autoPong: false, limits: { pingMs: 500 } })
    pair.client.pause()
    let sent = 0
    const speak = async (ms: number) => {
      for (const end = performance.now() + ms; performance.now() < end; await settle()) {
        for (; sent - pair.guest.taken < 10; sent += 1) pair.guest.port.sendSocket(Buffer.alloc(100_000))
      }
    }
    await speak(500)
    for (let turn = 0; turn < 20; turn += 1) {
      pair.client.resume()
      await speak(20)
      pair.client.pause()
      await speak(80)
    }
    expect(pair.overs).toEqual([])
    // Until it takes nothing at all.
    expect(await pair.over()).toEqual({ cause: 'client_lost', message: 'The client stopped answering.' })
  })

  it('lets a bot go on that speaks to nobody any more', async () => {
    pair = await RelayPair.open({ limits: { lastMessagesMs: 60_000 } })
    for (let count = 0; count < 101; count += 1) pair.client.send(`${count}`)
    pair.client.close()
    await until('the bot has its share', () => pair.guest.socketMessages.length === 100)
    pair.client.terminate()
    pair.websocket.terminate()
    await until('it is gone', () => pair.websocket.readyState === pair.websocket.CLOSED)
    for (let count = 0; count < 7; count += 1) pair.guest.port.sendSocket('nobody hears this')
    await until('the bot need not wait', () => pair.guest.taken === 7)
    expect(pair.overs).toEqual([])
  })

  it('tells the bot how its caller closed, after all its words', async () => {
    pair = await RelayPair.open()
    pair.client.send('last')
    pair.client.close(4001, 'my reason')
    await pair.over()
    expect(await pair.guest.told('socket-closed')).toMatchObject({ code: 4001, reason: 'my reason' })
    expect(pair.guest.socketMessages).toEqual(['last'])
    await pair.close()
    pair = await RelayPair.open()
    pair.client.terminate()
    expect(await pair.guest.told('socket-closed')).toMatchObject({ code: 1006, reason: '' })
  })

  it('is closed when a message is too large, and everybody is told why', async () => {
    pair = await RelayPair.open()
    pair.client.send('fine')
    pair.client.send(Buffer.alloc(MIB + 1))
    const reason = 'A message is too large: 1048576 bytes are allowed.'
    expect((await pair.whenClosed()).code).toBe(1009)
    expect(await pair.over()).toEqual({
      cause: 'client_left',
      message: `The connection to the client was closed (code 1009): ${reason}`,
    })
    expect(await pair.guest.told('socket-closed')).toEqual({ type: 'socket-closed', code: 1009, reason })
    expect(pair.guest.socketMessages).toEqual(['fine'])
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
