import { expect, it, vi } from 'vitest'
import { CloudDouble, DOUBLE_KEY } from '../testing/cloud-double.ts'
import { CloudClient } from './cloud-client.ts'
import { type FollowEvent, type FollowOptions, followLog } from './follow.ts'

/** Makes nothing of what a call gives. */
function hush(_: unknown): undefined {}

/** Follows a build of a cloud, with a clock that moves by waiting only. */
async function following(options: Partial<FollowOptions> = {}) {
  const cloud = await CloudDouble.start()
  const build = cloud.addBuild()
  const client = new CloudClient({ url: cloud.url, key: DOUBLE_KEY })
  let now = 0
  const wait = async (ms: number) => {
    now += ms
  }
  const events: FollowEvent[] = []
  const run = async () => {
    const { signal } = new AbortController()
    const log = followLog(client, build.record.id, { signal, wait, clock: () => now, ...options })
    for await (const event of log) events.push(event)
  }
  const seen = (count: number) => vi.waitUntil(() => events.length >= count, { timeout: 20_000 })
  return { cloud, build, events, seen, run }
}

const kinds = (events: readonly FollowEvent[]) => events.map(({ type }) => type)

it('gives lines as they come, then the end', async () => {
  const { build, events, seen, run } = await following()
  build.log('a')
  const over = run()
  await seen(1)
  build.log('b\u2028"☺', '')
  await seen(3)
  build.finish('success')
  await over
  expect(events.slice(0, 3)).toEqual([
    { type: 'line', number: 0, text: 'a' },
    { type: 'line', number: 1, text: 'b\u2028"☺' },
    { type: 'line', number: 2, text: '' },
  ])
  expect(events[3]).toMatchObject({ type: 'end', complete: true, end: { status: 'success', lines: 3 } })
})

it('says which older lines are not there', async () => {
  const { build, events, run } = await following({ limit: 2 })
  build.log('a', 'b', 'c', 'd')
  build.finish('failed')
  await run()
  expect(kinds(events)).toEqual(['skipped', 'line', 'line', 'end'])
  expect(events[0]).toEqual({ type: 'skipped', from: 0, to: 2 })
  expect(events[3]).toMatchObject({ complete: false })
})

it('goes on after a cut where it was, whatever the cloud sends again', async () => {
  const { cloud, build, events, seen, run } = await following()
  build.log('a', 'b')
  const over = run()
  await seen(2)
  const asked: unknown[] = []
  cloud.intercept = (request) => {
    asked.push(request.headers['last-event-id'])
    // A cloud that forgets where the reader was.
    delete request.headers['last-event-id']
    return undefined
  }
  build.cut()
  build.log('c')
  build.finish('success')
  await over
  expect(asked).toEqual(['1'])
  expect(kinds(events)).toEqual(['line', 'line', 'lost', 'resumed', 'line', 'end'])
  expect(events[3]).toMatchObject({ next: 2, afterMs: expect.any(Number) })
  expect(events.at(-1)).toMatchObject({ complete: true })
})

it('takes a stream that ends without an end for a cut', async () => {
  const { build, events, seen, run } = await following()
  build.log('a')
  const over = run()
  await seen(1)
  for (const follower of build.followers) follower.end()
  await seen(3)
  build.finish('success')
  await over
  expect(kinds(events)).toEqual(['line', 'lost', 'resumed', 'end'])
})

it('does not wait for a cloud that fell silent', async () => {
  const { cloud, build, events, seen, run } = await following({ silenceMs: 50 })
  build.log('a')
  const over = run()
  await seen(2)
  expect(events[1]).toMatchObject({ type: 'lost', reason: 'nothing was heard for 0.05 seconds' })
  build.finish('success')
  await over
  expect(cloud.seen.length).toBeGreaterThan(1)
})

it('tells which lines the cloud does not keep any more', async () => {
  const { cloud, build, events, seen, run } = await following()
  build.log('a')
  const over = run()
  await seen(1)
  cloud.intercept = (request) => {
    request.headers['last-event-id'] = '3'
    return undefined
  }
  build.cut()
  build.log('b', 'c', 'd', 'e')
  build.finish('success')
  await over
  expect(events.find(({ type }) => type === 'skipped')).toEqual({ type: 'skipped', from: 1, to: 4 })
  expect(events.at(-1)).toMatchObject({ complete: false })
})

it('gives up after a while', async () => {
  const { cloud, build, events, seen, run } = await following({ patienceMs: 60_000 })
  build.log('a')
  const over = run()
  over.catch(() => {})
  await seen(1)
  cloud.intercept = (request) => hush(request.socket.destroy())
  build.cut()
  await expect(over).rejects.toMatchObject({
    code: 'CONNECTION_LOST',
    message: /did not come back within 60 seconds/,
  })
  expect(kinds(events)).toEqual(['line', 'lost'])
})

it('does not ask again for what is not there', async () => {
  const { cloud, build, run, seen } = await following()
  build.log('a')
  const over = run()
  over.catch(() => {})
  await seen(1)
  cloud.builds.clear()
  build.cut()
  await expect(over).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
