import { duplexPair } from 'node:stream'
import { MediaError, type MediaHost, type MediaReport } from '@botcli/media'
import type { SessionOutcome } from '@botcli/protocol'
import { describe, expect, it } from 'vitest'
import type { Guest, GuestExit } from '../guests/guest.ts'
import { LogCapture } from '../testing/log-capture.ts'
import { Session, type SessionOptions } from './session.ts'

const REPORT: MediaReport = {
  counters: {
    audioInMs: 20,
    audioOutMs: 0,
    audioInDroppedMs: 0,
    audioInConcealedMs: 0,
    messagesIn: 0,
    messagesOut: 0,
    badMessages: 0,
    messagesInDropped: 0,
    messagesOutDropped: 0,
  },
  latency: [],
}

/** A host that records how it was closed; `join` does what the test wants. */
class StagedHost implements MediaHost {
  readonly load = 0
  readonly closings: SessionOutcome[] = []
  readonly #joins: () => Promise<void>

  constructor(joins: () => Promise<void> = async () => {}) {
    this.#joins = joins
  }

  async openWebrtc(): Promise<never> {
    throw new Error('not in this test')
  }

  async openPeerRelay(): Promise<void> {}

  async openWebsocket(): Promise<void> {}

  async openCarrier(): Promise<never> {
    throw new Error('not in this test')
  }

  async openRoom(): Promise<void> {}

  join(): Promise<void> {
    return this.#joins()
  }

  async negotiate(): Promise<never> {
    throw new Error('not in this test')
  }

  addCandidates(): void {}

  async request(): Promise<never> {
    throw new Error('not in this test')
  }

  async close(_: string, outcome: SessionOutcome): Promise<MediaReport> {
    this.closings.push(outcome)
    return REPORT
  }
}

class StagedGuest implements Guest {
  readonly version = 1
  readonly passThrough = false
  readonly exited: Promise<GuestExit>
  stops = 0
  exit: (exit: GuestExit) => void = () => {}

  constructor() {
    this.exited = new Promise((resolve) => {
      this.exit = resolve
    })
  }

  release() {
    return duplexPair()[0]
  }

  async stop(): Promise<void> {
    this.stops += 1
  }
}

function setup(maxDurationMs = 60_000, options: Pick<SessionOptions, 'memoryHint'> = {}) {
  const ended: Session[] = []
  const log = new LogCapture()
  const session = new Session({
    id: 'one',
    transport: 'websocket',
    body: {},
    maxDurationMs,
    logger: log.logger,
    onEnded: (over) => ended.push(over),
    ...options,
  })
  return { session, ended, log }
}

describe('a session', () => {
  it('is claimed once, and can be given back', async () => {
    const { session } = setup()
    session.claim()
    expect(() => session.claim()).toThrow('has its caller already')
    session.revert()
    expect(session.state).toBe('waiting')
    session.claim()
    await session.end('stopped', 'enough')
    expect(() => session.claim()).toThrow()
  })

  it('waits again, with a limit, when a caller connected but got no bot', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const { session } = setup()
    session.claim()
    session.place(new StagedHost())
    session.events.connected()
    expect(timers()).toBe(before)
    session.revert()
    expect(session.view()).toMatchObject({ state: 'waiting' })
    expect(session.view().connectedAt).toBeUndefined()
    expect(timers()).toBe(before + 1)
    await session.end('stopped', 'enough')
    expect(timers()).toBe(before)
  })

  it('ends once: the first cause stays, the wire and the guest are let go, everyone waits for the same', async () => {
    const { session, ended } = setup()
    const host = new StagedHost()
    const guest = new StagedGuest()
    session.claim()
    session.place(host)
    session.join(guest, { transport: 'webrtc' })
    await Promise.all([session.end('client_left', 'bye'), session.end('bot_failed', 'late')])
    expect(host.closings).toEqual([{ result: 'ok', cause: 'client_left', message: 'bye' }])
    expect(guest.stops).toBe(1)
    expect(ended).toEqual([session])
    expect(session.view()).toMatchObject({ state: 'ended', outcome: { cause: 'client_left' }, ...REPORT })
  })

  it('takes no wire and no guest when it is over', async () => {
    const { session } = setup()
    session.claim()
    await session.end('stopped', 'enough')
    session.revert()
    expect(session.state).toBe('ended')
    expect(() => session.place(new StagedHost())).toThrow('ended before its bot was there')
    const guest = new StagedGuest()
    expect(() => session.join(guest, { transport: 'webrtc' })).toThrow('ended')
    expect(guest.stops).toBe(1)
  })

  it('ends when its bot cannot be joined to its caller', async () => {
    const { session, ended } = setup()
    const host = new StagedHost(() => Promise.reject(new MediaError('media_unavailable', 'gone')))
    const guest = new StagedGuest()
    session.claim()
    session.place(host)
    session.join(guest, { transport: 'webrtc' })
    await expect.poll(() => ended).toEqual([session])
    expect(host.closings).toMatchObject([{ cause: 'media_failed' }])
    expect(guest.stops).toBe(1)
  })

  it.each([
    [{ how: 'exited with code 3', outOfMemory: false }, 'bot_exited', 'exited with code 3'],
    [{ how: 'ran out of memory', outOfMemory: true }, 'bot_out_of_memory', 'memory'],
  ] as const)('tells how its guest ended: %o', async (exit, cause, words) => {
    const { session, ended } = setup()
    const guest = new StagedGuest()
    session.claim()
    session.place(new StagedHost())
    session.join(guest, { transport: 'webrtc' })
    guest.exit(exit)
    session.events.over({ cause: 'bot_exited', message: 'The link is closed.' })
    await expect.poll(() => ended.length).toBe(1)
    expect(session.view().outcome).toMatchObject({ cause, message: expect.stringContaining(words) })
  })

  it('says what to do about a bot that needs more memory, and of no other end', async () => {
    const hinted = { memoryHint: 'Give it more.' }
    const full = setup(60_000, hinted).session
    await full.end('bot_out_of_memory', 'It is full.')
    expect(full.view().outcome?.message).toBe('It is full. Give it more.')
    const failed = setup(60_000, hinted).session
    await failed.end('bot_failed', 'It failed.')
    expect(failed.view().outcome?.message).toBe('It failed.')
  })

  it('ends at its time limit', async () => {
    const { session, ended } = setup(10)
    session.claim()
    session.place(new StagedHost())
    session.events.connected()
    session.join(new StagedGuest(), { transport: 'webrtc' })
    await expect.poll(() => ended.length).toBe(1)
    expect(session.view().outcome).toMatchObject({ result: 'ok', cause: 'time_limit' })
  })
})
