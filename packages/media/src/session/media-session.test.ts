import { afterEach, describe, expect, it } from 'vitest'
import { SessionFixture, START } from '../testing/session-fixture.ts'
import { until } from '../testing/until.ts'

const STEP = 320
const LOUD = new Int16Array(STEP).fill(8000)

let fixture: SessionFixture
afterEach(() => fixture.close())

function soundOf(frames: SessionFixture['frames']): Int16Array[] {
  return frames.flatMap((frame) => (frame.kind === 'audioIn' ? [frame.samples] : []))
}

function lastPosition() {
  return fixture.frames.findLast((frame) => frame.kind === 'playback')
}

/** The guest sends sound of many steps, as it must: in pieces of 100 ms. */
function speak(steps: number, level = 0): void {
  for (let sent = 0; sent < steps; sent += 5) {
    fixture.guest.sendAudioOut(0, new Int16Array(Math.min(5, steps - sent) * STEP).fill(level))
  }
}

/** Waits until the host has dealt with everything that the guest sent before. */
async function settled(): Promise<void> {
  const before = fixture.wire.keys.length
  fixture.guest.send({ type: 'dtmf', keys: '0' })
  await until('the host has read it', () => fixture.wire.keys.length > before)
}

describe('a session with its bot', () => {
  it('starts the bot, and tells it what came before it', async () => {
    fixture = new SessionFixture({ joined: false })
    fixture.wire.events.connected()
    fixture.wire.events.message({ early: 1 })
    fixture.join()
    await until('the guest knows', () => fixture.messages.length === 3)
    expect(fixture.messages).toEqual([
      { type: 'start', start: START },
      { type: 'connected' },
      { type: 'message', data: { early: 1 } },
    ])
  })

  it('keeps a hundred early messages and counts the rest as dropped', async () => {
    fixture = new SessionFixture({ joined: false })
    for (let sent = 0; sent < 130; sent += 1) fixture.wire.events.message(sent)
    fixture.join()
    await until('the guest has them', () => fixture.messages.length === 101)
    expect(fixture.session.report().counters).toMatchObject({ messagesIn: 130, messagesInDropped: 30 })
  })

  it('carries messages and keys both ways, and counts them', async () => {
    fixture = new SessionFixture()
    fixture.wire.events.message({ hello: 'bot' })
    fixture.wire.events.dtmf('12#')
    fixture.guest.send({ type: 'message', data: { hello: 'caller' } })
    fixture.guest.send({ type: 'dtmf', keys: '7' })
    expect((await fixture.told('message')).data).toEqual({ hello: 'bot' })
    expect((await fixture.told('dtmf')).keys).toBe('12#')
    await until('the caller has it', () => fixture.wire.keys.length === 1)
    expect(fixture.wire.messages).toEqual([{ hello: 'caller' }])
    expect(fixture.session.report().counters).toMatchObject({ messagesIn: 1, messagesOut: 1 })
  })

  it('counts a message that the wire could not carry as dropped, and not as sent', async () => {
    fixture = new SessionFixture()
    fixture.wire.takesMessages = false
    fixture.guest.send({ type: 'message', data: 'x'.repeat(300_000) })
    await settled()
    expect(fixture.session.report().counters).toMatchObject({ messagesOut: 0, messagesOutDropped: 1 })
  })

  it('passes no sound before the bot chose its format', async () => {
    fixture = new SessionFixture()
    fixture.wire.events.connected()
    fixture.wire.events.audio(LOUD, fixture.time.clock())
    await fixture.talk()
    fixture.wire.events.audio(LOUD, fixture.time.clock() + 40)
    await until('the guest hears', () => soundOf(fixture.frames).length > 0)
    expect(fixture.frames.find((frame) => frame.kind === 'audioIn')).toMatchObject({ capturedAt: 40 })
    expect(fixture.wire.format).toEqual({ inputRate: 16_000, outputRate: 16_000 })
  })

  it('answers the format with credit, plays by steps, and tells the position', async () => {
    fixture = new SessionFixture()
    await fixture.talk()
    expect(lastPosition()).toEqual({ kind: 'playback', epoch: 0, played: 0, limit: 6400 })
    speak(10, 5)
    await settled()
    fixture.time.step(5)
    expect(fixture.wire.sound).toHaveLength(5)
    // The position goes with the next step, so that it does not wake the guest for itself.
    fixture.time.step()
    await until('the guest knows', () => lastPosition()?.played === 5 * STEP)
    fixture.time.step(5)
    await until('the guest knows that all was played', () => lastPosition()?.played === 10 * STEP)
    const { quietSteps } = fixture.wire
    fixture.time.step(3)
    expect(fixture.wire.quietSteps).toBe(quietSteps + 3)
    expect(fixture.session.report().counters.audioOutMs).toBe(200)
  })

  it('sends each step when it comes, to a wire that takes it, and no two at once', async () => {
    fixture = new SessionFixture()
    fixture.wire.eager = true
    await fixture.talk()
    for (let frame = 0; frame < 5; frame += 1) {
      fixture.time.pass(7)
      speak(1)
      await settled()
      expect(fixture.wire.sound).toHaveLength(frame + 1)
      fixture.time.pass(-7)
      fixture.time.step()
      expect(fixture.wire.sound).toHaveLength(frame + 1)
    }
    speak(5, 5)
    await settled()
    expect(fixture.wire.sound.length).toBeLessThanOrEqual(6)
    fixture.time.step(6)
    expect(fixture.wire.sound).toHaveLength(10)
  })

  it('tells an eager wire of silence, but not of a moment', async () => {
    fixture = new SessionFixture()
    fixture.wire.eager = true
    await fixture.talk()
    speak(1)
    await settled()
    fixture.time.step()
    expect(fixture.wire.quietSteps).toBe(0)
    fixture.time.step(10)
    expect(fixture.wire.quietSteps).toBeGreaterThanOrEqual(8)
  })

  it('holds its sound while the caller is away', async () => {
    fixture = new SessionFixture()
    await fixture.talk()
    speak(10)
    await settled()
    fixture.wire.events.disconnected()
    fixture.time.step(20)
    expect(fixture.wire.sound).toHaveLength(0)
    fixture.wire.events.connected()
    fixture.time.step(10)
    expect(fixture.wire.sound).toHaveLength(10)
    expect(fixture.states).toEqual(['connected', 'disconnected', 'connected'])
  })

  it('forgets on clear, at the wire too, and answers before it grants anew', async () => {
    fixture = new SessionFixture()
    await fixture.talk()
    speak(10)
    await settled()
    fixture.time.step(2)
    fixture.guest.send({ type: 'clear', epoch: 1 })
    // Still on its way when the clear was sent, so nobody minds.
    speak(100)
    expect(await fixture.told('cleared')).toEqual({ type: 'cleared', epoch: 1, playedSamples: 2 * STEP })
    await until('there is new credit', () => lastPosition()?.epoch === 1)
    fixture.time.step(5)
    expect(fixture.wire.sound).toHaveLength(2)
    expect(fixture.wire.clears).toBe(1)
    expect(fixture.overs).toEqual([])
  })

  it('measures a turn, and shows it to a client that speaks RTVI', async () => {
    fixture = new SessionFixture()
    await fixture.talk()
    fixture.wire.events.message({ label: 'rtvi-ai', type: 'client-ready', id: '1', data: {} })
    fixture.wire.events.audio(LOUD, fixture.time.clock())
    fixture.time.pass(100)
    fixture.guest.sendAudioOut(0, new Int16Array(2 * STEP).fill(8000))
    await settled()
    fixture.time.step()
    const turn = { turn: 1, wireInMs: 0, botMs: 100, wireOutMs: 20 }
    expect(fixture.session.report().latency).toEqual([turn])
    expect(fixture.wire.messages).toMatchObject([{ type: 'metrics' }])
  })

  it('leaves out a message that is nested without end, and goes on', async () => {
    fixture = new SessionFixture()
    fixture.wire.events.message(JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)))
    fixture.wire.events.message('good')
    expect((await fixture.told('message')).data).toBe('good')
    expect(fixture.session.report().counters).toMatchObject({ messagesIn: 1, badMessages: 1 })
  })

  it('leaves out messages for a bot that does not read', async () => {
    fixture = new SessionFixture()
    fixture.guest.pause()
    const large = 'x'.repeat(300_000)
    for (let sent = 0; sent < 10; sent += 1) fixture.wire.events.message(large)
    expect(fixture.session.report().counters).toMatchObject({ messagesIn: 10, messagesInDropped: 6 })
  })
})

describe('the end of a session', () => {
  it.each([[[7]], [[0]], [[1, 1]], [[1, 3]], [[1, 2, 1]]])(
    'comes when the bot clears to %j',
    async (epochs) => {
      fixture = new SessionFixture()
      await fixture.talk()
      for (const epoch of epochs) fixture.guest.send({ type: 'clear', epoch })
      expect(await fixture.over()).toEqual({
        cause: 'bot_failed',
        message: expect.stringContaining(`cleared to epoch ${epochs.at(-1)}, which is not the next one`),
      })
      expect(fixture.wire.clears).toBe(epochs.length - 1)
    },
  )

  it('comes when the bot sends more than 100 ms of sound at once', async () => {
    fixture = new SessionFixture()
    await fixture.talk()
    fixture.guest.sendAudioOut(0, new Int16Array(5 * STEP))
    await settled()
    expect(fixture.overs).toEqual([])
    fixture.guest.sendAudioOut(0, new Int16Array(5 * STEP + 1))
    expect(await fixture.over()).toMatchObject({
      cause: 'bot_flooded',
      message: expect.stringContaining('more sound than it was allowed'),
    })
  })

  it('comes when the caller is gone; whoever owns the session closes it', async () => {
    fixture = new SessionFixture()
    await fixture.talk()
    fixture.wire.events.gone('client_left', 'bye')
    fixture.wire.events.gone('client_lost', 'again')
    expect(fixture.overs).toEqual([{ cause: 'client_left', message: 'bye' }])
    fixture.wire.events.message('too late')
    fixture.wire.events.connected()
    expect(fixture.states).toEqual(['connected'])
    expect(fixture.time.pending).toBe(0)
  })

  it('cancels the bot, and waits for its end', async () => {
    fixture = new SessionFixture()
    await fixture.talk()
    const outcome = { result: 'ok', cause: 'stopped', message: 'enough' } as const
    const closed = fixture.session.close(outcome, 60_000)
    expect(fixture.wire.closings).toEqual([outcome])
    expect(await fixture.told('cancel')).toEqual({
      type: 'cancel',
      cause: 'stopped',
      message: 'enough',
      deadlineMs: 60_000,
    })
    fixture.guest.send({ type: 'end', outcome: 'returned' })
    await closed
    await until('the link is closed', () => fixture.linkClosed)
    expect(fixture.overs).toEqual([])
  })

  it('waits no longer than the deadline', async () => {
    fixture = new SessionFixture()
    await fixture.session.close({ result: 'ok', cause: 'stopped', message: '' }, 10)
    await until('the link is closed', () => fixture.linkClosed)
  })

  it('may come twice, and without a bot', async () => {
    fixture = new SessionFixture({ joined: false })
    await fixture.close()
    await fixture.close()
    expect(fixture.wire.closings).toHaveLength(2)
  })

  it('leaves no step behind when the bot chooses its format too late', async () => {
    fixture = new SessionFixture()
    const closed = fixture.session.close({ result: 'ok', cause: 'client_left', message: '' }, 60_000)
    fixture.guest.send({ type: 'format', inputRate: 16_000, outputRate: 16_000 })
    fixture.guest.send({ type: 'end', outcome: 'returned' })
    await closed
    expect(fixture.time.pending).toBe(0)
  })

  it('reads on when the client takes nothing, because the last word of the bot may be in it', async () => {
    fixture = new SessionFixture()
    fixture.wire.messageBacklog = 10 * 1024 * 1024
    for (let sent = 0; sent < 5; sent += 1) fixture.guest.send({ type: 'message', data: 'one too many' })
    const error = { name: 'Error', message: 'the real reason' }
    fixture.guest.send({ type: 'end', outcome: 'failed', error })
    expect(await fixture.over()).toMatchObject({
      cause: 'bot_failed',
      message: expect.stringContaining('real reason'),
    })
    expect(fixture.session.report().counters).toMatchObject({ messagesOut: 0, messagesOutDropped: 5 })
  })

  it('gives up on a bot whose client has had too much left to take for too long', async () => {
    fixture = new SessionFixture()
    fixture.wire.messageBacklog = 2 * 1024 * 1024
    fixture.session.beat()
    fixture.time.pass(14_000)
    fixture.session.beat()
    expect(fixture.overs).toEqual([])
    fixture.time.pass(2000)
    fixture.session.beat()
    expect(await fixture.over()).toMatchObject({ cause: 'bot_flooded' })
  })
})
