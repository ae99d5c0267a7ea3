import { afterAll, beforeAll, expect, it } from 'vitest'
import { SettingsService } from '../settings/settings-service.ts'
import { SqliteStore } from '../store/sqlite-store.ts'
import { NO_USERS } from '../testing/no-users.ts'
import { SecretBox } from './secret-box.ts'
import { SecretService } from './secret-service.ts'

const store = new SqliteStore(':memory:')
const settings = new SettingsService(store, [{ code: 'local', display_name: 'Here' }])
const box = new SecretBox({ id: '00000001', bytes: new Uint8Array(32).fill(7) })
let now = 1000
const secrets = new SecretService({ store, box, settings, clock: () => now, users: NO_USERS })
beforeAll(async () => {
  for (const id of ['one', 'two']) {
    await store.organizations.create({ id, name: id, defaultRegion: 'local', createdAt: 1 })
  }
})
afterAll(() => store.close())

it('gives all values of one organization, pull secrets in every spelling that others could see', async () => {
  const values = (...all: readonly string[]) => ({
    secrets: all.map((secretValue, index) => ({ secretKey: `K${index}`, secretValue })),
  })
  await secrets.put('one', 'aaa', values('first value', 'second value'))
  await secrets.put('one', 'bbb', values('second value', 'third value'))
  const secretValue = Buffer.from('user:token-of-registry').toString('base64')
  await secrets.put('one', 'pull', { isImagePullSecret: true, host: 'registry.example', secretValue })
  await secrets.put('two', 'aaa', values('of the other'))
  expect([...(await secrets.valuesOf('one'))].toSorted()).toEqual(
    [
      'first value',
      'second value',
      'third value',
      secretValue,
      'user:token-of-registry',
      'token-of-registry',
    ].toSorted(),
  )
  expect(await secrets.valuesOf('two')).toEqual(['of the other'])
  expect(await secrets.valuesOf('nobody')).toEqual([])
})

it('opens no value that was moved to another place of the store', async () => {
  const [moved] = await store.secrets.secrets('one', 'aaa')
  if (!moved) throw new Error('there is no secret')
  const set = {
    organizationId: 'two',
    name: 'aaa',
    type: 'secret',
    region: 'local',
    createdAt: now,
    updatedAt: now,
  } as const
  await store.secrets.put(set, [moved], { maxSecrets: 9, maxBytes: 9999, maxKnownBytes: 9999 })
  await expect(secrets.valuesOf('two')).rejects.toThrow()
})

it('are ready to be kept out of logs, and anew after a change', async () => {
  const fresh = await secrets.redactionFor('one')
  expect(await secrets.redactionFor('one')).toBe(fresh)
  now += 1
  await secrets.put('one', 'aaa', { secrets: [{ secretKey: 'NEW', secretValue: 'a-new-value' }] })
  const changed = await secrets.redactionFor('one')
  expect(changed).not.toBe(fresh)
  expect(changed.startingWith('a-ne')).toContain('a-new-value')
})

it('are not more than can be looked for', async () => {
  const put = (name: string, count: number) =>
    secrets.put('two', name, {
      secrets: Array.from({ length: count }, (_, index) => ({
        secretKey: `KEY_${index}`,
        secretValue: 'x'.repeat(50_000),
      })),
    })
  await put('many-of-two', 15)
  await expect(put('more-of-two', 15)).rejects.toMatchObject({ code: 'CONFLICT' })
  // What is replaced does not count twice.
  await put('many-of-two', 20)
})
