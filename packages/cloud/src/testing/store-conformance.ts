import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store, StoredBuild, StoredKey, Upload } from '../store/store.ts'
import { agentStoreTests } from './agent-store-conformance.ts'
import { secretStoreTests } from './secret-store-conformance.ts'
import { FAILED, SUCCESS, sampleBuild, sampleUpload } from './stored-samples.ts'

/** A store under test, and how it is opened again with what it holds. */
export interface StoreHouse {
  open(): Promise<Store>
  /** Removes everything. */
  remove(): Promise<void>
}

/** What every store does, whatever it is made of. */
export function describeStore(name: string, makeHouse: () => Promise<StoreHouse>): void {
  describe(name, () => {
    let house: StoreHouse
    let store: Store
    const [one, two] = [randomUUID(), randomUUID()]
    beforeEach(async () => {
      house = await makeHouse()
      store = await house.open()
      for (const [index, id] of [one, two].entries()) {
        await store.organizations.create({ id, name: `o${index}`, defaultRegion: 'local', createdAt: index })
      }
    })
    afterEach(async () => {
      await store.close()
      await house.remove()
    })
    const reopen = async () => {
      await store.close()
      store = await house.open()
    }

    it('keeps organizations', async () => {
      expect(await store.organizations.get(two)).toEqual({
        id: two,
        name: 'o1',
        defaultRegion: 'local',
        createdAt: 1,
      })
      expect(await store.organizations.get(randomUUID())).toBeUndefined()
      expect(await store.organizations.named('o1')).toMatchObject({ id: two })
      expect(await store.organizations.named('o')).toBeUndefined()
      await store.organizations.setDefaultRegion(one, 'far')
      await reopen()
      expect(await store.organizations.first()).toMatchObject({ id: one, defaultRegion: 'far' })
    })

    describe('agents and sessions', () => agentStoreTests(() => store, [one, two]))

    describe('keys', () => {
      const key = (changes: Partial<StoredKey> = {}): StoredKey => ({
        id: randomUUID(),
        organizationId: one,
        family: 'private',
        name: 'n "quoted" ü',
        prefix: 'sk_abc',
        hash: randomUUID(),
        createdAt: 1,
        lastUsedAt: null,
        revokedAt: null,
        ...changes,
      })

      it('are found by their hash and listed in the order in which they were made', async () => {
        const keys = [key({ createdAt: 1 }), key({ createdAt: 1 }), key({ createdAt: 2, family: 'public' })]
        for (const each of keys) await store.keys.create(each)
        await store.keys.create(key({ organizationId: two }))
        expect(await store.keys.list(one)).toEqual(keys)
        expect(await store.keys.byHash(keys[1]?.hash ?? '')).toEqual(keys[1])
        expect(await store.keys.byHash('none')).toBeUndefined()
        await expect(store.keys.create(key({ hash: keys[0]?.hash ?? '' }))).rejects.toThrow()
      })

      it('remember their last use', async () => {
        const used = key()
        await store.keys.create(used)
        await store.keys.touch(used.id, 77)
        await reopen()
        expect(await store.keys.byHash(used.hash)).toMatchObject({ lastUsedAt: 77 })
      })

      it('are revoked once, by their organization, and never the last private one', async () => {
        const [first, second, open] = [key(), key(), key({ family: 'public' })]
        for (const each of [first, second, open]) await store.keys.create(each)
        expect(await store.keys.revoke(two, first.id, 5)).toBe('missing')
        expect(await store.keys.revoke(one, randomUUID(), 5)).toBe('missing')
        expect(await store.keys.revoke(one, first.id, 5)).toBe('revoked')
        expect(await store.keys.revoke(one, first.id, 6)).toBe('missing')
        expect(await store.keys.revoke(one, second.id, 5)).toBe('last_private')
        expect(await store.keys.revoke(one, open.id, 5)).toBe('revoked')
        expect(await store.keys.byHash(first.hash)).toMatchObject({ revokedAt: 5 })
        expect(await store.keys.byHash(second.hash)).toMatchObject({ revokedAt: null })
      })

      it('that are the last two are not both revoked at once', async () => {
        const keys = [key(), key()]
        for (const each of keys) await store.keys.create(each)
        const results = await Promise.all(keys.map(({ id }) => store.keys.revoke(one, id, 5)))
        expect(results.toSorted()).toEqual(['last_private', 'revoked'])
      })
    })

    const upload = (changes: Partial<Upload> = {}) => sampleUpload({ organizationId: one, ...changes })
    const build = (changes: Partial<StoredBuild> = {}) => sampleBuild({ organizationId: one, ...changes })

    it('keeps uploads until their time is up and no build that is not over needs them', async () => {
      const [idle, used, later] = [upload(), upload({ expiresAt: 90 }), upload({ expiresAt: 300 })]
      for (const each of [idle, used, later]) await store.uploads.create(each)
      const user = build({ uploadId: used.id })
      await store.builds.create(user)
      await store.uploads.received(idle.id, 'h', 3)
      expect(await store.uploads.get(one, idle.id)).toEqual({
        ...idle,
        contextHash: 'h',
        contextSizeBytes: 3,
      })
      expect(await store.uploads.get(two, idle.id)).toBeUndefined()
      expect((await store.uploads.expired(100, 10)).map(({ id }) => id)).toEqual([idle.id])
      await store.builds.finish(user.id, SUCCESS, 20)
      expect((await store.uploads.expired(100, 10)).map(({ id }) => id)).toEqual([used.id, idle.id])
      expect(await store.uploads.expired(100, 1)).toHaveLength(1)
      await store.uploads.remove(idle.id)
      expect(await store.uploads.get(one, idle.id)).toBeUndefined()
    })

    describe('builds', () => {
      it('are kept as they were made', async () => {
        const made = build({ noCache: true, dockerfilePath: 'a b/D' })
        await store.builds.create(made)
        await reopen()
        expect(await store.builds.get(one, made.id)).toEqual(made)
        expect(await store.builds.get(two, made.id)).toBeUndefined()
      })

      it('end once', async () => {
        const made = build()
        await store.builds.create(made)
        await store.builds.lease('me', 20, 50, 9)
        await store.builds.noteOutcome(made.id, FAILED)
        expect(await store.builds.get(one, made.id)).toMatchObject({ status: 'building', outcome: FAILED })
        expect(await store.builds.finish(made.id, FAILED, 30)).toBe(true)
        expect(await store.builds.finish(made.id, SUCCESS, 31)).toBe(false)
        await store.builds.noteOutcome(made.id, SUCCESS)
        expect(await store.builds.get(one, made.id)).toEqual({
          ...made,
          ...FAILED,
          startedAt: 20,
          completedAt: 30,
          updatedAt: 30,
        })
      })

      it('are removed when they are over, by their organization', async () => {
        const made = build()
        await store.builds.create(made)
        expect(await store.builds.remove(one, made.id)).toBe(false)
        await store.builds.finish(made.id, SUCCESS, 20)
        expect(await store.builds.remove(two, made.id)).toBe(false)
        expect(await store.builds.remove(one, made.id)).toBe(true)
        expect(await store.builds.get(one, made.id)).toBeUndefined()
      })

      it('are listed newest first, by filter and by page', async () => {
        const made = [
          build({ createdAt: 1 }),
          build({ createdAt: 2, region: 'far' }),
          build({ createdAt: 2, contextHash: 'other' }),
          build({ createdAt: 3, dockerfilePath: 'D2' }),
        ]
        for (const each of made) await store.builds.create(each)
        await store.builds.create(build({ organizationId: two }))
        const order = made
          .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
          .map(({ id }) => id)
        const list = async (filter = {}, page = {}) => {
          const { builds, total } = await store.builds.list(one, filter, { limit: 10, offset: 0, ...page })
          return { ids: builds.map(({ id }) => id), total }
        }
        expect(await list()).toEqual({ ids: order, total: 4 })
        expect(await list({}, { limit: 2, offset: 1 })).toEqual({ ids: order.slice(1, 3), total: 4 })
        for (const [at, id] of order.entries()) {
          const { createdAt = 0 } = (await store.builds.get(one, id)) ?? {}
          expect((await list({}, { before: { createdAt, id } })).ids).toEqual(order.slice(at + 1))
        }
        expect(await list({ region: 'far' })).toEqual({ ids: [made[1]?.id], total: 1 })
        expect(await list({ contextHash: 'other', status: 'pending' })).toEqual({
          ids: [made[2]?.id],
          total: 1,
        })
        expect(await list({ dockerfilePath: 'D2', region: 'far' })).toEqual({ ids: [], total: 0 })
      })

      it('are cached by all that makes them the same', async () => {
        const same = { contextHash: 'hash', region: 'local', dockerfilePath: 'Dockerfile', builder: 'b 1' }
        const [old, young, failed] = [
          build({ createdAt: 1 }),
          build({ createdAt: 2 }),
          build({ createdAt: 3 }),
        ]
        for (const each of [old, young, failed]) await store.builds.create(each)
        expect(await store.builds.cached(one, same)).toBeUndefined()
        for (const each of [old, young]) await store.builds.finish(each.id, SUCCESS, 20)
        await store.builds.finish(failed.id, { ...FAILED, builder: 'b 1' }, 20)
        expect(await store.builds.cached(one, same)).toMatchObject({ id: young.id })
        expect(await store.builds.cached(two, same)).toBeUndefined()
        for (const change of [
          { contextHash: 'x' },
          { region: 'x' },
          { dockerfilePath: 'x' },
          { builder: 'b 2' },
        ]) {
          expect(await store.builds.cached(one, { ...same, ...change })).toBeUndefined()
        }
      })

      it('are leased to one owner each, the oldest first', async () => {
        const made = [build({ createdAt: 2 }), build({ createdAt: 1 }), build({ createdAt: 3 })]
        for (const each of made) await store.builds.create(each)
        const leases = await Promise.all([1, 2, 3, 4].map((n) => store.builds.lease(`owner ${n}`, 20, 50, 9)))
        expect(leases.map((leased) => leased?.id)).toEqual([made[1]?.id, made[0]?.id, made[2]?.id, undefined])
        expect(leases[0]).toMatchObject({ status: 'building', startedAt: 20 })
      })

      it('are leased in turn among organizations that have room', async () => {
        for (const createdAt of [1, 2, 3, 4]) await store.builds.create(build({ createdAt }))
        const [early, late] = [
          build({ organizationId: two, createdAt: 5 }),
          build({ organizationId: two, createdAt: 6 }),
        ]
        for (const each of [early, late]) await store.builds.create(each)
        const take = async (now: number) => store.builds.lease('me', now, 99, 2)
        expect(await take(20)).toMatchObject({ organizationId: one, createdAt: 1 })
        expect(await take(21)).toMatchObject({ id: early.id })
        // Both have one running; the first was served longer ago.
        expect(await take(22)).toMatchObject({ organizationId: one, createdAt: 2 })
        expect(await take(23)).toMatchObject({ id: late.id })
        expect(await take(24)).toBeUndefined()
        await store.builds.finish(early.id, SUCCESS, 25)
        expect(await take(26)).toBeUndefined()
        await store.builds.finish((await running(store, one))[0] ?? '', SUCCESS, 27)
        expect(await take(28)).toMatchObject({ organizationId: one, createdAt: 3 })
      })

      it('are lost by an owner whose lease is gone', async () => {
        const made = build()
        await store.builds.create(made)
        await store.builds.lease('me', 20, 50, 9)
        expect(await store.builds.renew(made.id, 'me', 80)).toEqual({ cancelRequested: false })
        expect(await store.builds.renew(made.id, 'another', 80)).toBeUndefined()
        expect(await store.builds.takeOver('another', 79, 90)).toEqual([])
        expect((await store.builds.takeOver('another', 80, 90)).map(({ id }) => id)).toEqual([made.id])
        // The first one can do nothing with it any more, though it has not noticed yet.
        expect(await store.builds.renew(made.id, 'me', 99)).toBeUndefined()
        expect(await store.builds.noteOutcome(made.id, FAILED, 'me')).toBe(false)
        expect(await store.builds.finish(made.id, FAILED, 85, 'me')).toBe(false)
        expect(await store.builds.get(one, made.id)).toMatchObject({ status: 'building', outcome: null })
        expect(await store.builds.noteOutcome(made.id, SUCCESS, 'another')).toBe(true)
        expect(await store.builds.finish(made.id, SUCCESS, 90, 'another')).toBe(true)
        expect(await store.builds.renew(made.id, 'another', 99)).toBeUndefined()
        expect(await store.builds.takeOver('another', 999, 1000)).toEqual([])
      })

      it('are cancelled: the owner is told, and a pending one is not leased again', async () => {
        const [waiting, going, over] = [
          build({ createdAt: 2 }),
          build({ createdAt: 1 }),
          build({ createdAt: 3 }),
        ]
        await store.builds.create(over)
        await store.builds.finish(over.id, SUCCESS, 15)
        for (const each of [waiting, going]) await store.builds.create(each)
        expect((await store.builds.lease('me', 20, 50, 9))?.id).toBe(going.id)
        expect(await store.builds.requestCancel(two, waiting.id, 30, 60)).toBeUndefined()
        expect(await store.builds.requestCancel(one, waiting.id, 30, 60)).toMatchObject({
          ...{ status: 'pending', cancelRequested: true },
        })
        expect(await store.builds.requestCancel(one, going.id, 30, 60)).toMatchObject({ status: 'building' })
        expect(await store.builds.requestCancel(one, over.id, 30, 60)).toMatchObject({
          ...{ status: 'success', cancelRequested: false, updatedAt: 15 },
        })
        expect(await store.builds.lease('me', 31, 60, 9)).toBeUndefined()
        expect(await store.builds.renew(going.id, 'me', 55)).toEqual({ cancelRequested: true })
        expect((await store.builds.takeOver('another', 59, 99)).map(({ id }) => id)).toEqual([going.id])
        expect((await store.builds.takeOver('another', 60, 99)).map(({ id }) => id)).toEqual([waiting.id])
      })
    })

    describe('secrets', () => secretStoreTests(() => store, reopen, [one, two]))

    it('says that it is closed', async () => {
      await store.close()
      await expect(store.organizations.first()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    })
  })
}

async function running(store: Store, organizationId: string): Promise<readonly string[]> {
  const page = { limit: 10, offset: 0 }
  const { builds } = await store.builds.list(organizationId, { status: 'building' }, page)
  return builds.map(({ id }) => id)
}
