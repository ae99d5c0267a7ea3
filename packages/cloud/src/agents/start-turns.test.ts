import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Starter, StartTurns, type Turn } from './start-turns.ts'

const LONG_MS = 60_000

let leaving: AbortController
let begun: Map<string, Turn>
beforeEach(() => {
  leaving = new AbortController()
  begun = new Map()
})
afterEach(() => {
  leaving.abort()
  for (const turn of begun.values()) turn.end()
})

/** Waits for a turn; it is under its name when it has begun. */
async function wait(
  turns: StartTurns,
  name: string,
  {
    organizationId = 'one',
    isAwaited = () => false,
    signal = leaving.signal,
  }: Partial<Starter> & { readonly signal?: AbortSignal } = {},
): Promise<void> {
  const turn = await turns.take({ organizationId, isAwaited }, signal)
  if (turn) begun.set(name, turn)
}

function end(name: string): void {
  begun.get(name)?.end()
  begun.delete(name)
}

it('lets so many in at a time, first come, first served', async () => {
  const turns = new StartTurns({ most: 2, longestMs: LONG_MS })
  const all = ['a', 'b', 'c', 'd'].map((name) => wait(turns, name))
  await Promise.all(all.slice(0, 2))
  expect([...begun.keys()]).toEqual(['a', 'b'])
  end('b')
  await all[2]
  expect([...begun.keys()]).toEqual(['a', 'c'])
  end('a')
  await all[3]
})

it('lets one more in where a caller waits, whoever came first', async () => {
  const turns = new StartTurns({ most: 1, longestMs: LONG_MS })
  let isCalled = false
  const first = wait(turns, 'first')
  const second = wait(turns, 'second')
  const awaited = wait(turns, 'awaited', { isAwaited: () => isCalled })
  await first
  expect([...begun.keys()]).toEqual(['first'])
  isCalled = true
  turns.look()
  await awaited
  expect([...begun.keys()]).toEqual(['first', 'awaited'])
  end('first')
  end('awaited')
  await second
})

it('counts a turn that is ended twice once', async () => {
  const turns = new StartTurns({ most: 1, longestMs: LONG_MS })
  const [a, b, c] = ['a', 'b', 'c'].map((name) => wait(turns, name))
  await a
  const turn = begun.get('a')
  turn?.end()
  turn?.end()
  await Promise.race([b, c])
  expect([...begun.keys()]).toEqual(['a', 'b'])
})

it('gives the next turn to an organization that has none, though it came later', async () => {
  const turns = new StartTurns({ most: 2, longestMs: LONG_MS })
  const [a, b, c] = ['a', 'b', 'c'].map((name) => wait(turns, name))
  const other = wait(turns, 'other', { organizationId: 'two' })
  await Promise.all([a, b])
  end('a')
  await Promise.race([c, other])
  expect([...begun.keys()]).toEqual(['b', 'other'])
})

it('does not let callers of one organization keep others from their turns', async () => {
  const turns = new StartTurns({ most: 2, longestMs: LONG_MS })
  const isAwaited = () => true
  const called = ['a', 'b', 'c', 'd', 'e'].map((name) => wait(turns, name, { isAwaited }))
  const other = wait(turns, 'other', { organizationId: 'two' })
  await Promise.all(called.slice(0, 3))
  expect([...begun.keys()]).toEqual(['a', 'b', 'c'])
  end('c')
  await called[3]
  end('a')
  await Promise.race([other, called[4]])
  expect([...begun.keys()]).toEqual(['b', 'd', 'other'])
})

it('does not let what hangs hold others up', async () => {
  const turns = new StartTurns({ most: 1, longestMs: 20 })
  await wait(turns, 'hangs')
  await wait(turns, 'next')
  expect([...begun.keys()]).toEqual(['hangs', 'next'])
})

it('forgets who does not want to start any more', async () => {
  const turns = new StartTurns({ most: 1, longestMs: LONG_MS })
  await wait(turns, 'first')
  const gone = new AbortController()
  const left = wait(turns, 'left', { signal: gone.signal })
  const next = wait(turns, 'next')
  gone.abort()
  await left
  end('first')
  await next
  expect([...begun.keys()]).toEqual(['next'])
  await wait(turns, 'late', { signal: gone.signal })
  expect(begun.has('late')).toBe(false)
})
