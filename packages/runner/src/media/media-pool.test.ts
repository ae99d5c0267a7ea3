import { type HostedSessionEvents, MediaError, MediaWorker } from '@botcli/media'
import { afterEach, describe, expect, it } from 'vitest'
import { BROWSER_OFFER } from '../../../media/src/testing/offers.ts'
import { LogCapture } from '../testing/log-capture.ts'
import { isAlive } from '../testing/processes.ts'
import { until } from '../testing/runner-fixture.ts'
import { MediaPool, type MediaPoolOptions } from './media-pool.ts'

const HOST = { ice: {}, maxMemoryBytes: 1024 * 1024 * 1024 }
const EVENTS: HostedSessionEvents = { connected() {}, disconnected() {}, over() {}, report() {} }

let pool: MediaPool | undefined
afterEach(() => pool?.close())

async function open(options: Partial<MediaPoolOptions> = {}) {
  const log = new LogCapture()
  pool = await MediaPool.start({ host: HOST, maxSessions: 100, logger: log.logger, ...options })
  return { pool, log }
}

/** Gives the least busy worker so many sessions that callers feel it. */
async function fill(filled: MediaPool, prefix: string): Promise<void> {
  const host = await filled.pick()
  for (let count = host.load; count < 8; count += 1) {
    await host.openWebrtc(`${prefix}-${count}`, BROWSER_OFFER, EVENTS)
  }
}

describe('the pool of media workers', () => {
  it('has one worker to begin with, and gives it to everyone', async () => {
    const { pool } = await open()
    expect(pool.pids).toHaveLength(1)
    expect(await pool.pick()).toBe(await pool.pick())
    expect(pool.pids).toHaveLength(1)
  })

  it('starts one more under load, in the background and not many at once', async () => {
    const { pool } = await open()
    const first = await pool.pick()
    await fill(pool, 'first')
    for (const host of await Promise.all([pool.pick(), pool.pick(), pool.pick()])) expect(host).toBe(first)
    await until(() => pool.pids.length === 2, 'a second worker')
    expect(await pool.pick()).not.toBe(first)
    expect(pool.pids).toHaveLength(2)
  })

  it('has no more workers than ports, and gives each its own', async () => {
    const ports: (number | undefined)[] = []
    const { pool } = await open({
      ports: { first: 42_100, last: 42_100 },
      start: (options, log) => {
        ports.push(options.ice.port)
        return MediaWorker.start({ ...options, ice: {} }, log)
      },
    })
    await fill(pool, 'only')
    const again = await pool.pick()
    expect(again.load).toBe(8)
    expect(ports).toEqual([42_100])
  })

  it('replaces a worker that was killed, and is not without one meanwhile', async () => {
    const { pool, log } = await open()
    const [pid = 0] = pool.pids
    process.kill(pid, 'SIGKILL')
    await until(() => log.find('ended unexpectedly'), 'the log to say so')
    expect((await pool.pick()).load).toBe(0)
    expect(pool.pids).toHaveLength(1)
    expect(pool.pids).not.toContain(pid)
  })

  it('says so when no worker can be started', async () => {
    const broken = async () => {
      throw new MediaError('media_unavailable', 'no room')
    }
    await expect(open({ start: broken })).rejects.toThrow('no room')
  })

  it('ends all its workers, also one that is just starting', async () => {
    const { pool } = await open()
    await fill(pool, 'first')
    await pool.pick()
    const before = pool.pids
    await pool.close()
    expect(before.some(isAlive)).toBe(false)
    expect(pool.pids).toEqual([])
  })
})
