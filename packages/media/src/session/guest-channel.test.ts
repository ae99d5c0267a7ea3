import { encodeControl } from '@botcli/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { SessionFixture } from '../testing/session-fixture.ts'
import { until } from '../testing/until.ts'

let fixture: SessionFixture
afterEach(() => fixture.close())

/** A control frame with a text that `JSON.stringify` would not make. */
function rawControl(text: string): Buffer {
  const header = Buffer.from([1, 0, 0, 0, 0])
  header.writeUInt32BE(Buffer.byteLength(text), 1)
  return Buffer.concat([header, Buffer.from(text)])
}

/** What happens to a session whose guest does this. */
async function overAfter(deed: (fixture: SessionFixture) => void, talking = true) {
  fixture = new SessionFixture()
  if (talking) await fixture.talk()
  deed(fixture)
  const over = await fixture.over()
  expect(fixture.overs).toHaveLength(1)
  expect(fixture.time.pending).toBe(0)
  return over
}

describe('a guest', () => {
  it('is over when it says so', async () => {
    expect(await overAfter(({ guest }) => guest.send({ type: 'end', outcome: 'returned' }))).toEqual({
      cause: 'bot_returned',
      message: 'The bot is done.',
    })
  })

  it('tells how it failed, and the log where', async () => {
    const error = { name: 'TypeError', message: 'no', stack: 'at bot.ts:1' }
    expect(await overAfter(({ guest }) => guest.send({ type: 'end', outcome: 'failed', error }))).toEqual({
      cause: 'bot_failed',
      message: 'The bot failed: TypeError: no',
      detail: 'at bot.ts:1',
    })
    expect(await overAfter(({ guest }) => guest.send({ type: 'end', outcome: 'failed' }))).toMatchObject({
      message: 'The bot failed.',
    })
  })

  it('has exited when its stream ends without a word', async () => {
    expect(await overAfter(({ guestStream }) => guestStream.end())).toMatchObject({ cause: 'bot_exited' })
    expect(await overAfter(({ guestStream }) => guestStream.end(), false)).toMatchObject({
      cause: 'bot_exited',
    })
  })

  it.each([
    ['more sound than its credit', (f: SessionFixture) => f.guest.sendAudioOut(0, new Int16Array(6401))],
    ['sound of a later epoch', (f: SessionFixture) => f.guest.sendAudioOut(1, new Int16Array(1))],
    [
      'that it heard what was never sent',
      ({ guest }: SessionFixture) => {
        guest.laterHeard(1)
        guest.flush()
      },
    ],
  ])('is ended as a flood when it sends %s', async (_, deed) => {
    expect(await overAfter(deed)).toMatchObject({ cause: 'bot_flooded' })
  })

  it('may not send sound before it chose a format', async () => {
    expect(await overAfter(({ guest }) => guest.sendAudioOut(0, new Int16Array(1)), false)).toMatchObject({
      cause: 'bot_flooded',
    })
  })

  it.each([
    ['bytes that are no frame', Buffer.alloc(64, 0xff), 'announces'],
    ['an unknown kind of frame', Buffer.from([9, 0, 0, 0, 0]), 'kind of frame'],
    ['text that is not JSON', Buffer.from([1, 0, 0, 0, 1, 0x7b]), 'JSON'],
    ['an unknown message', encodeControl({ type: 'dance' }), 'not known'],
    [
      'a rate that nobody can convert',
      encodeControl({ type: 'format', inputRate: 1, outputRate: 1 }),
      'known',
    ],
    ['a sound of half a sample', Buffer.from([3, 0, 0, 0, 5, 0, 0, 0, 0, 1]), 'whole samples'],
    [
      'a message nested without end',
      rawControl(`{"type":"message","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
      'nested deeper',
    ],
  ])('breaks the link with %s, and is told apart from one that exited', async (_, bytes, words) => {
    expect(await overAfter(({ guestStream }) => guestStream.write(bytes))).toEqual({
      cause: 'bot_failed',
      message: expect.stringContaining(words),
    })
  })

  it.each([
    [{ type: 'hello', version: 1, runtime: 'x', pid: 1 }],
    [{ type: 'ready' }],
    [{ type: 'load-failed', error: { name: 'E', message: 'x' } }],
  ] as const)('may not say %o in the middle of a session', async (message) => {
    expect(await overAfter(({ guest }) => guest.send(message))).toEqual({
      cause: 'bot_failed',
      message: `The bot's process said ${message.type} in the middle of a session.`,
    })
  })

  it('may not send what only a host sends', async () => {
    const playback = ({ guest }: SessionFixture) => {
      guest.laterPlayback(0, 0, 0)
      guest.flush()
    }
    expect(await overAfter(playback)).toMatchObject({
      cause: 'bot_failed',
      message: expect.stringContaining('playback'),
    })
    expect(await overAfter(({ guest }) => guest.sendAudioIn(0, new Int16Array(1)))).toMatchObject({
      cause: 'bot_failed',
      message: expect.stringContaining('audioIn'),
    })
  })

  it('may choose its format once', async () => {
    const format = { type: 'format', inputRate: 8000, outputRate: 8000 } as const
    expect(await overAfter(({ guest }) => guest.send(format))).toMatchObject({
      cause: 'bot_failed',
      message: expect.stringContaining('twice'),
    })
  })

  it('is asked each second whether it lives, and given up after half a minute', async () => {
    fixture = new SessionFixture()
    fixture.session.beat()
    expect(await fixture.told('ping')).toEqual({ type: 'ping', id: 1 })
    fixture.time.pass(20_000)
    fixture.guest.send({ type: 'pong', id: 1, rss: 1 })
    fixture.guest.send({ type: 'dtmf', keys: '1' })
    await until('the answer is in', () => fixture.wire.keys.length === 1)
    fixture.time.pass(30_000)
    fixture.session.beat()
    expect(fixture.overs).toEqual([])
    fixture.time.pass(1)
    fixture.session.beat()
    expect(await fixture.over()).toMatchObject({ cause: 'bot_unresponsive' })
  })

  it('is ended when it does not read what it is sent', async () => {
    fixture = new SessionFixture()
    fixture.guest.pause()
    fixture.wire.events.dtmf('1'.repeat(5 * 1024 * 1024))
    fixture.session.beat()
    expect(await fixture.over()).toMatchObject({ cause: 'bot_unresponsive' })
  })

  it('is ended when it has grown too large', async () => {
    expect(
      await overAfter(({ guest }) => guest.send({ type: 'pong', id: 1, rss: 3 * 1024 * 1024 })),
    ).toMatchObject({ cause: 'bot_out_of_memory' })
  })

  it('is read on when it says too much, and what is too much is left out and counted', async () => {
    fixture = new SessionFixture()
    for (let sent = 0; sent < 6000; sent += 1) fixture.guest.send({ type: 'message', data: sent })
    fixture.guest.send({ type: 'end', outcome: 'failed', error: { name: 'Error', message: 'the last word' } })
    expect(await fixture.over()).toMatchObject({
      cause: 'bot_failed',
      message: expect.stringContaining('last word'),
    })
    expect(fixture.session.report().counters).toMatchObject({ messagesOut: 5000, messagesOutDropped: 1000 })
  })

  it('is given up when it never stops', async () => {
    fixture = new SessionFixture()
    for (let second = 0; second < 4; second += 1) {
      for (let sent = 0; sent < 5000; sent += 1) fixture.guest.send({ type: 'dtmf', keys: '1' })
      await new Promise((resolve) => setTimeout(resolve, 50))
      fixture.time.pass(1000)
    }
    expect(await fixture.over()).toMatchObject({ cause: 'bot_flooded' })
  })

  it('is not sent a message that no frame can hold, and goes on', async () => {
    fixture = new SessionFixture()
    fixture.wire.events.message('x'.repeat(1024 * 1024))
    fixture.wire.events.message('small')
    expect(await fixture.told('message')).toMatchObject({ data: 'small' })
    expect(fixture.session.report().counters).toMatchObject({ messagesIn: 2, messagesInDropped: 1 })
    expect(fixture.overs).toEqual([])
  })
})
