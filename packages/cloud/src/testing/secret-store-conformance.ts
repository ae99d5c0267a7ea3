import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Store, StoredSecretSet } from '../store/store.ts'
import { sampleAgent } from './agent-store-conformance.ts'

/** What every store does with secrets. */
export function secretStoreTests(
  storeOf: () => Store,
  reopen: () => Promise<void>,
  [one, two]: readonly [string, string],
): void {
  const set = (changes: Partial<StoredSecretSet> = {}): StoredSecretSet => ({
    organizationId: one,
    name: 'app',
    type: 'secret',
    region: 'local',
    createdAt: 1,
    updatedAt: 1,
    ...changes,
  })
  const secret = (key: string, text = key, updatedAt = 1) => ({
    key,
    sealed: Buffer.from(text),
    updatedAt,
  })
  const values = async (organizationId = one) =>
    (await storeOf().secrets.secrets(organizationId, 'app')).map(({ key, sealed }) => [
      key,
      Buffer.from(sealed).toString(),
    ])

  it('are merged into their set, all or none', async () => {
    expect(await storeOf().secrets.put(set(), [secret('B'), secret('A')], 9)).toBe('stored')
    expect(await storeOf().secrets.put(set({ createdAt: 5, updatedAt: 5 }), [secret('A', 'new', 5)], 9)).toBe(
      'stored',
    )
    await reopen()
    expect(await values()).toEqual([
      ['A', 'new'],
      ['B', 'B'],
    ])
    expect(await storeOf().secrets.set(one, 'app')).toEqual(set({ updatedAt: 5 }))
    expect(await storeOf().secrets.put(set(), [secret('A', 'lost'), secret('C'), secret('D')], 3)).toBe(
      'too_many',
    )
    expect(await values()).toEqual([
      ['A', 'new'],
      ['B', 'B'],
    ])
    expect(await storeOf().secrets.put(set({ name: 'none' }), [secret('A'), secret('B')], 1)).toBe('too_many')
    expect(await storeOf().secrets.set(one, 'none')).toBeUndefined()
  })

  it('keep the type and the region of their set', async () => {
    await storeOf().secrets.put(set(), [secret('A')], 9)
    expect(await storeOf().secrets.put(set({ type: 'imagePullSecret' }), [secret('A', 'x')], 9)).toBe(
      'other_type',
    )
    expect(await storeOf().secrets.put(set({ region: 'far' }), [secret('A', 'x')], 9)).toBe('other_region')
    expect(await values()).toEqual([['A', 'A']])
  })

  it('belong to one organization', async () => {
    await storeOf().secrets.put(set(), [secret('A')], 9)
    await storeOf().secrets.put(set({ organizationId: two }), [secret('A', 'of two')], 9)
    expect(await values(two)).toEqual([['A', 'of two']])
    expect(await storeOf().secrets.removeSecret(two, 'app', 'B', 9)).toBe(false)
    expect(await storeOf().secrets.removeSet(two, 'app', 9)).toBe(true)
    expect(await storeOf().secrets.removeSet(two, 'app', 9)).toBe(false)
    expect(await values(two)).toEqual([])
    expect(await values()).toEqual([['A', 'A']])
    expect(await storeOf().secrets.removeSecret(one, 'app', 'A', 9)).toBe(true)
    expect(await values()).toEqual([])
    expect((await storeOf().secrets.sets(one)).map(({ name }) => name)).toEqual(['app'])
  })

  it('are known as former ones while an instance runs that may have them', async () => {
    const { agent, deployment } = sampleAgent({ organizationId: one })
    await storeOf().agents.create(agent, deployment)
    const instance = { id: randomUUID(), agentId: agent.id, deploymentId: deployment.id }
    const times = { createdAt: 20, readyAt: null, endedAt: null }
    const former = async (organizationId = one) =>
      (await storeOf().secrets.former(organizationId)).map(({ sealed }) => Buffer.from(sealed).toString())
    const put = (at: number, changed: readonly string[], ...secrets: ReturnType<typeof secret>[]) =>
      storeOf().secrets.put(set({ updatedAt: at }), secrets, 9, changed)
    await put(11, ['A'], secret('A', 'first'), secret('B', 'first B'))
    // Nobody has had it.
    await put(12, ['A'], secret('A', 'second'))
    expect(await former()).toEqual([])
    await storeOf().agents.addInstance({ ...instance, ...times })
    await put(20, ['A'], secret('A', 'third'), secret('B', 'the same B'))
    await put(30, ['C'], secret('C', 'new'))
    expect(await storeOf().secrets.former(one)).toMatchObject([{ setName: 'app', key: 'A' }])
    await storeOf().secrets.removeSecret(one, 'app', 'A', 31)
    await storeOf().secrets.removeSet(one, 'app', 32)
    await reopen()
    await storeOf().secrets.pruneFormer()
    expect((await former()).toSorted()).toEqual(['new', 'second', 'the same B', 'third'])
    expect(await former(two)).toEqual([])
    await storeOf().agents.instanceEnded(instance.id, 40)
    // One that was started later never had them.
    await storeOf().agents.addInstance({ ...instance, ...times, id: randomUUID(), createdAt: 33 })
    await storeOf().secrets.pruneFormer()
    expect(await former()).toEqual([])
  })

  it('hold any bytes', async () => {
    const sealed = Uint8Array.from({ length: 256 }, (_, index) => index)
    await storeOf().secrets.put(set(), [{ key: 'A', sealed, updatedAt: 1 }], 9)
    expect([...((await storeOf().secrets.secrets(one, 'app'))[0]?.sealed ?? [])]).toEqual([...sealed])
  })
}
