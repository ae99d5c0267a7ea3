import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../testing/runner-fixture.ts'
import { InstanceWatch } from './instance-watch.ts'

let watch: InstanceWatch
afterEach(() => watch.close())

function opened({ orphanMs = 60_000, sessions = (): number => 0 } = {}) {
  const clock = { now: 0 }
  watch = new InstanceWatch({ orphanMs, sessions, clock: () => clock.now })
  return clock
}

/** Reads a stream to its end and counts its lines. */
function reader() {
  const seen = { lines: 0, ended: false }
  const stream = watch.open().getReader()
  const read = async () => {
    for (;;) {
      const { value, done } = await stream.read()
      if (done) break
      seen.lines += new TextDecoder().decode(value).split('\n').length - 1
    }
    seen.ended = true
  }
  void read()
  return { seen, leave: () => stream.cancel() }
}

describe('the watch over an instance', () => {
  it('tells of a rush once at its beginning and once at its end', async () => {
    opened()
    const { seen } = reader()
    await until(() => seen.lines === 1, 'the first line')
    for (let count = 0; count < 1000; count += 1) watch.tell()
    await until(() => seen.lines === 3, 'two lines for a thousand records')
    watch.tell()
    await until(() => seen.lines > 3, 'another line')
  })

  it('keeps one line for a watcher that does not read, however much happens', async () => {
    opened()
    const stream = watch.open().getReader()
    const { seen } = reader()
    for (let lines = 1; lines < 5; lines += 1) {
      await until(() => seen.lines >= lines, 'a line for the one that reads')
      watch.tell()
    }
    watch.close()
    expect(await stream.read()).toMatchObject({ done: false })
    expect(await stream.read()).toMatchObject({ done: true })
  })

  it('lets the longest watcher go when there are too many', async () => {
    opened()
    const all = Array.from({ length: 9 }, () => reader())
    await until(() => all[0]?.seen.ended, 'the end of the first')
    expect(all.slice(1).some(({ seen }) => seen.ended)).toBe(false)
    watch.close()
    await until(() => all.every(({ seen }) => seen.ended), 'the end of all')
  })

  it('gives up when nobody has watched for long and there is no session', async () => {
    const seen = { looks: 0, sessions: 1 }
    const sessions = () => {
      seen.looks += 1
      return seen.sessions
    }
    const clock = opened({ orphanMs: 1000, sessions })
    let orphaned = false
    void watch.orphaned.then(() => {
      orphaned = true
    })
    const { leave } = reader()
    const looked = () => {
      const { looks } = seen
      return until(() => seen.looks > looks, 'another look')
    }
    clock.now = 5000
    await leave()
    clock.now = 9000
    await looked()
    expect(orphaned).toBe(false)
    clock.now = 5999
    seen.sessions = 0
    await looked()
    expect(orphaned).toBe(false)
    clock.now = 6000
    await until(() => orphaned, 'it to give up')
  })
})
