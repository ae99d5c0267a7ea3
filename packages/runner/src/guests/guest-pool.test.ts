import { afterEach, describe, expect, it } from 'vitest'
import { RunnerError } from '../errors.ts'
import { LogCapture } from '../testing/log-capture.ts'
import { until } from '../testing/runner-fixture.ts'
import type { Guest, GuestExit } from './guest.ts'
import { GuestPool } from './guest-pool.ts'

/** A guest whose life a test decides. Real ones are tested with real bots elsewhere. */
class StagedGuest implements Guest {
  readonly version: number
  passThrough = false
  readonly exited: Promise<GuestExit>
  stops = 0
  die: () => void = () => {}
  load: () => void = () => {}
  fail: (error: Error) => void = () => {}
  readonly loaded: Promise<Guest>

  constructor(version: number, unwanted: AbortSignal) {
    this.version = version
    this.exited = new Promise((resolve) => {
      this.die = () => resolve({ how: 'ended', outOfMemory: false })
    })
    this.loaded = new Promise((resolve, reject) => {
      this.load = () => resolve(this)
      this.fail = reject
      unwanted.addEventListener('abort', () => reject(new RunnerError('bot_load_failed', 'unwanted')))
    })
  }

  release(): never {
    throw new Error('a pool does not release')
  }

  async stop(): Promise<void> {
    this.stops += 1
    this.die()
  }
}

let pool: GuestPool
afterEach(() => pool.close())

function setup(warm: number, { loads = true } = {}) {
  const made: StagedGuest[] = []
  const log = new LogCapture()
  const state = { loads, made, log }
  pool = new GuestPool({
    warm,
    logger: log.logger,
    create: (code, unwanted) => {
      const guest = new StagedGuest(code.version, unwanted)
      made.push(guest)
      if (state.loads) guest.load()
      return guest.loaded
    },
  })
  return state
}

const code = (version: number) =>
  ({ kind: 'javascript', url: `file:///bot-${version}.mjs`, version }) as const
const python = (version: number) =>
  ({ kind: 'python', version, program: { start: () => Promise.reject() } }) as const
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('the pool of guests', () => {
  it('keeps spares, gives one, and makes the next', async () => {
    const { made } = setup(2)
    await pool.use(code(1))
    expect(made).toHaveLength(2)
    expect(made).toContain(await pool.take())
    await settle()
    expect(made).toHaveLength(3)
    expect(made.every(({ stops }) => stops === 0)).toBe(true)
  })

  it('gives each guest once, however many ask at the same time', async () => {
    setup(2)
    await pool.use(code(1))
    const taken = await Promise.all(Array.from({ length: 10 }, () => pool.take()))
    expect(new Set(taken).size).toBe(10)
  })

  it('knows from the first guest whether the code speaks the wires of its callers itself', async () => {
    const state = setup(0, { loads: false })
    const first = pool.use(python(1))
    const asked = pool.passesThrough()
    Object.assign(state.made[0] as StagedGuest, { passThrough: true }).load()
    await first
    expect(await asked).toBe(true)
    expect(await pool.passesThrough()).toBe(true)
    expect(state.made).toHaveLength(1)
    const second = pool.use(python(2))
    const later = pool.passesThrough()
    state.made[1]?.load()
    await second
    expect(await later).toBe(false)
    pool.suspend('broken')
    await expect(pool.passesThrough()).rejects.toThrow('broken')
  })

  it('knows of a bot in JavaScript without a guest', async () => {
    setup(1, { loads: false })
    pool.use(code(1)).catch(() => {})
    expect(await pool.passesThrough()).toBe(false)
  })

  it('asks newer code when the old one did not load', async () => {
    const state = setup(1, { loads: false })
    pool.use(python(1)).catch(() => {})
    const asked = pool.passesThrough()
    const second = pool.use(python(2))
    state.made[0]?.fail(new RunnerError('bot_load_failed', 'bad'))
    Object.assign(state.made[1] as StagedGuest, { passThrough: true }).load()
    await second
    expect(await asked).toBe(true)
  })

  it('prefers a spare that is loaded to one that is not', async () => {
    const state = setup(2)
    await pool.use(code(1))
    state.loads = false
    await pool.take()
    await settle()
    // One is loaded and one is loading now.
    expect(await pool.take()).toBe(state.made[1])
  })

  it('keeps none when it is told so, but tries the code first', async () => {
    const { made } = setup(0)
    await pool.use(code(1))
    await settle()
    expect(made.map(({ stops }) => stops)).toEqual([1])
    await pool.take()
    await settle()
    expect(made.map(({ stops }) => stops)).toEqual([1, 0])
  })

  it('replaces its spares when there is new code', async () => {
    const { made } = setup(2)
    await pool.use(code(1))
    await pool.use(code(2))
    await settle()
    expect(made.map(({ version, stops }) => [version, stops])).toEqual([
      [1, 1],
      [1, 1],
      [2, 0],
      [2, 0],
    ])
    expect((await pool.take()).version).toBe(2)
  })

  it('drops a spare of old code that is loaded too late', async () => {
    const state = setup(1, { loads: false })
    const first = pool.use(code(1))
    const second = pool.use(code(2))
    state.made[1]?.load()
    await second
    state.made[0]?.load()
    await first
    await settle()
    expect(state.made.map(({ version, stops }) => [version, stops])).toEqual([
      [1, 1],
      [2, 0],
    ])
  })

  it('tells that code does not load, and tries again for each session', async () => {
    const state = setup(1, { loads: false })
    const used = pool.use(code(1))
    state.made[0]?.fail(new RunnerError('bot_load_failed', 'broken'))
    await expect(used).rejects.toThrow('broken')
    expect(state.made).toHaveLength(1)
    const checked = pool.check()
    state.made[1]?.fail(new RunnerError('bot_load_failed', 'still broken'))
    await expect(checked).rejects.toThrow('still broken')
    const taken = pool.take()
    state.made[2]?.load()
    expect(await taken).toBe(state.made[2])
    state.made[3]?.load()
    await settle()
    await pool.check()
    expect(state.made).toHaveLength(4)
  })

  it('does not hold the faults of old code against the new', async () => {
    const state = setup(1, { loads: false })
    const first = pool.use(code(1))
    const second = pool.use(code(2))
    state.made[1]?.fail(new RunnerError('bot_load_failed', 'new code is broken'))
    await expect(second).rejects.toThrow('new code')
    state.made[0]?.fail(new RunnerError('bot_load_failed', 'old code was broken'))
    await first
    const checked = pool.check()
    state.made[2]?.fail(new RunnerError('bot_load_failed', 'new code is broken'))
    await expect(checked).rejects.toThrow('new code')
  })

  it('gives a session the new code when the old one, for which it waited, comes to nothing', async () => {
    const state = setup(1, { loads: false })
    void pool.use(code(1))
    const taken = pool.take()
    void pool.use(code(2))
    state.made[1]?.load()
    state.made[0]?.fail(new RunnerError('bot_load_failed', 'saved again'))
    expect((await taken).version).toBe(2)
  })

  it('refuses sessions with the reason while the code is broken', async () => {
    const { made } = setup(1)
    await pool.use(code(1))
    pool.suspend('bot.ts:3 is odd')
    await expect(pool.take()).rejects.toThrow('bot.ts:3 is odd')
    await expect(pool.check()).rejects.toThrow('bot.ts:3 is odd')
    await settle()
    expect(made.map(({ stops }) => stops)).toEqual([1])
    await pool.use(code(2))
    expect((await pool.take()).version).toBe(2)
  })

  it('replaces a spare that died, but not at once', async () => {
    const { made, log } = setup(1)
    await pool.use(code(1))
    made[0]?.die()
    await until(() => log.find('ended on its own'), 'a warning')
    expect(made).toHaveLength(1)
    await until(() => made.length === 2, 'the next spare')
  })

  it('ends its spares, and is not kept waiting by one that loads', async () => {
    const state = setup(1)
    await pool.use(code(1))
    state.loads = false
    const taken = await pool.take()
    await settle()
    expect(state.made).toHaveLength(2)
    await pool.close()
    expect(state.made.map(({ stops }) => stops)).toEqual([0, 0])
    await expect(pool.take()).rejects.toThrow('not loaded')
    await pool.use(code(2))
    expect(state.made).toHaveLength(2)
    await taken.stop(0)
  })
})
