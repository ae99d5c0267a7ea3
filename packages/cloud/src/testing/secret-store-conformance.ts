import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { NewSecretSet, SecretLimits, Store } from '../store/store.ts'
import { sampleAgent } from './agent-store-conformance.ts'

/** What every store does with secrets. */
export function secretStoreTests(
  storeOf: () => Store,
  reopen: () => Promise<void>,
  [one, two]: readonly [string, string],
): void {
  const limits = (changes: Partial<SecretLimits> = {}): SecretLimits => ({
    ...{ maxSecrets: 9, maxBytes: 1000, maxKnownBytes: 1000 },
    ...changes,
  })
  const set = (changes: Partial<NewSecretSet> = {}): NewSecretSet => ({
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
    expect(await storeOf().secrets.put(set(), [secret('B'), secret('A')], limits())).toBe('stored')
    expect(
      await storeOf().secrets.put(set({ createdAt: 5, updatedAt: 5 }), [secret('A', 'new', 5)], limits()),
    ).toBe('stored')
    await reopen()
    expect(await values()).toEqual([
      ['A', 'new'],
      ['B', 'B'],
    ])
    expect(await storeOf().secrets.set(one, 'app')).toMatchObject(set({ updatedAt: 5 }))
    expect(
      await storeOf().secrets.put(
        set(),
        [secret('A', 'lost'), secret('C'), secret('D')],
        limits({ maxSecrets: 3 }),
      ),
    ).toBe('too_many')
    expect(await values()).toEqual([
      ['A', 'new'],
      ['B', 'B'],
    ])
    expect(
      await storeOf().secrets.put(
        set({ name: 'none' }),
        [secret('A'), secret('B')],
        limits({ maxSecrets: 1 }),
      ),
    ).toBe('too_many')
    expect(await storeOf().secrets.set(one, 'none')).toBeUndefined()
  })

  it('keep the type and the region of their set', async () => {
    await storeOf().secrets.put(set(), [secret('A')], limits())
    expect(await storeOf().secrets.put(set({ type: 'imagePullSecret' }), [secret('A', 'x')], limits())).toBe(
      'other_type',
    )
    expect(await storeOf().secrets.put(set({ region: 'far' }), [secret('A', 'x')], limits())).toBe(
      'other_region',
    )
    expect(await values()).toEqual([['A', 'A']])
  })

  it('belong to one organization', async () => {
    await storeOf().secrets.put(set(), [secret('A')], limits())
    await storeOf().secrets.put(set({ organizationId: two }), [secret('A', 'of two')], limits())
    expect(await values(two)).toEqual([['A', 'of two']])
    expect(await storeOf().secrets.removeSecret(two, 'app', 'B', 9)).toBe(false)
    expect(await storeOf().secrets.removeSet(two, 'app')).toMatchObject({ isRemoved: true })
    expect(await storeOf().secrets.removeSet(two, 'app')).toMatchObject({ isRemoved: false })
    expect(await values(two)).toEqual([])
    expect(await values()).toEqual([['A', 'A']])
    expect(await storeOf().secrets.removeSecret(one, 'app', 'A', 9)).toBe(true)
    expect(await values()).toEqual([])
    expect((await storeOf().secrets.sets(one)).map(({ name }) => name)).toEqual(['app'])
  })

  it('are those of their version while a deployment of that version is needed', async () => {
    const { secrets, agents } = storeOf()
    const of = async (version?: number, name = 'app') =>
      Object.fromEntries(
        (await storeOf().secrets.secrets(one, name, version)).map(({ key, sealed }) => [
          key,
          Buffer.from(sealed).toString(),
        ]),
      )
    const known = async () =>
      (await storeOf().secrets.known(one)).map(({ sealed }) => Buffer.from(sealed).toString()).toSorted()
    await secrets.put(set(), [secret('A', 'nobody has it'), secret('B', 'B1')], limits())
    await secrets.put(set(), [secret('A', 'A1')], limits())
    expect(await known()).toEqual(['A1', 'B1'])
    await secrets.put(set({ name: 'pull', type: 'imagePullSecret' }), [secret('auth', 'P1')], limits())
    const { agent, deployment } = sampleAgent(
      { organizationId: one },
      { secretSet: 'app', imagePullSecretSet: 'pull' },
    )
    await agents.create(agent, deployment)
    const first = await agents.deployment(agent.id, deployment.id)
    const version = await secrets.version(one)
    expect(first?.secretsVersion).toBe(version)
    expect(await secrets.removeSet(one, 'app')).toEqual({ isRemoved: false, users: ['bot'] })
    expect(await secrets.removeSet(one, 'pull')).toEqual({ isRemoved: false, users: ['bot'] })
    await secrets.put(set(), [secret('A', 'nobody has it either')], limits())
    await secrets.put(set({ name: 'pull', type: 'imagePullSecret' }), [secret('auth', 'P2')], limits())
    await secrets.put(set(), [secret('A', 'A2'), secret('C', 'C2')], limits())
    expect((await secrets.set(one, 'app'))?.version).toBeGreaterThan(version)
    await secrets.removeSecret(one, 'app', 'B', 9)
    await reopen()
    expect(await of(version)).toEqual({ A: 'A1', B: 'B1' })
    expect(await of(version, 'pull')).toEqual({ auth: 'P1' })
    expect(await of()).toEqual({ A: 'A2', C: 'C2' })
    expect(await known()).toEqual(['A1', 'A2', 'B1', 'C2', 'P1', 'P2'])
    // It has an instance that is still to end, though the deployment counts as over.
    const instance = { id: randomUUID(), agentId: agent.id, deploymentId: deployment.id, createdAt: 99 }
    await storeOf().agents.addInstance({ ...instance, readyAt: null, endedAt: null })
    const second = await storeOf().agents.deploy({ ...deployment, id: randomUUID() })
    await storeOf().agents.setPhase(deployment.id, 'Failed', 20)
    await storeOf().secrets.pruneFormer()
    expect(await of(version)).toEqual({ A: 'A1', B: 'B1' })
    await storeOf().agents.instanceEnded(instance.id, 30)
    const before = await storeOf().secrets.version(one)
    await storeOf().secrets.pruneFormer()
    expect(await known()).toEqual(['A2', 'C2', 'P2'])
    // Who looks for them has to look for fewer.
    expect(await storeOf().secrets.version(one)).not.toBe(before)
    expect(await of(second.secretsVersion)).toEqual({ A: 'A2', C: 'C2' })
    await storeOf().agents.remove(agent.id, 40)
    expect(await storeOf().secrets.removeSet(one, 'app')).toEqual({ isRemoved: true, users: [] })
    expect(await known()).toEqual(['P2'])
    expect(await storeOf().secrets.version(two)).toBe(1)
  })

  it('of a set that was removed are not those of the next one of its name', async () => {
    const { secrets, agents } = storeOf()
    await secrets.put(set(), [secret('A', 'of the first')], limits())
    const { agent, deployment } = sampleAgent({ organizationId: one }, { secretSet: 'app' })
    await agents.create(agent, deployment)
    const version = await secrets.version(one)
    const instance = { id: randomUUID(), agentId: agent.id, deploymentId: deployment.id, createdAt: 1 }
    await agents.addInstance({ ...instance, readyAt: null, endedAt: null })
    await agents.remove(agent.id, 9)
    await secrets.removeSet(one, 'app')
    await secrets.put(set(), [secret('A', 'of the second')], limits())
    expect((await secrets.known(one)).map(({ sealed }) => Buffer.from(sealed).toString()).toSorted()).toEqual(
      ['of the first', 'of the second'],
    )
    const [{ sealed } = { sealed: '' }] = await secrets.secrets(one, 'app', version)
    expect(Buffer.from(sealed).toString()).toBe('of the first')
  })

  it('are not more than may be known, and former ones count while they are needed', async () => {
    const { secrets, agents } = storeOf()
    const limit = limits({ maxBytes: 10, maxKnownBytes: 15 })
    expect(await secrets.put(set(), [secret('A', 'x'.repeat(11))], limit)).toBe('too_large')
    expect(await secrets.put(set(), [secret('A', 'x'.repeat(10))], limit)).toBe('stored')
    const { agent, deployment } = sampleAgent({ organizationId: one }, { secretSet: 'app' })
    await agents.create(agent, deployment)
    expect(await secrets.put(set(), [secret('A', 'y'.repeat(6))], limit)).toBe('too_many_former')
    expect(await values()).toEqual([['A', 'x'.repeat(10)]])
    expect(await secrets.put(set(), [secret('A', 'y'.repeat(5))], limit)).toBe('stored')
    await agents.setPhase(deployment.id, 'Retired', 20)
    expect(await secrets.put(set(), [secret('A', 'y'.repeat(6))], limit)).toBe('stored')
  })

  it('must be there when a deployment that needs them is made', async () => {
    const { secrets, agents } = storeOf()
    const refused = expect.objectContaining({ code: 'DEPLOY-SECRET-NOT-FOUND' })
    const { agent, deployment } = sampleAgent({ organizationId: one }, { secretSet: 'app' })
    await expect(agents.create(agent, deployment)).rejects.toEqual(refused)
    expect(await agents.get(one, 'bot')).toBeUndefined()
    await secrets.put(set({ organizationId: two }), [secret('A')], limits())
    await expect(agents.create(agent, deployment)).rejects.toEqual(refused)
    await secrets.put(set({ region: 'far' }), [secret('A')], limits())
    await expect(agents.create(agent, deployment)).rejects.toEqual(refused)
    await secrets.removeSet(one, 'app')
    await secrets.put(set(), [secret('A')], limits())
    expect(await agents.create(agent, deployment)).toBe(true)
    const config = { ...deployment.config, secretSet: null, imagePullSecretSet: 'app' }
    await expect(agents.deploy({ ...deployment, id: randomUUID(), config })).rejects.toEqual(refused)
    expect(await agents.get(one, 'bot')).toMatchObject({ desiredDeploymentId: deployment.id })
  })

  it('hold any bytes', async () => {
    const sealed = Uint8Array.from({ length: 256 }, (_, index) => index)
    await storeOf().secrets.put(set(), [{ key: 'A', sealed, updatedAt: 1 }], limits())
    expect([...((await storeOf().secrets.secrets(one, 'app'))[0]?.sealed ?? [])]).toEqual([...sealed])
  })
}
