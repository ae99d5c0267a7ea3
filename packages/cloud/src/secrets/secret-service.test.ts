import { afterAll, beforeAll, expect, it } from 'vitest'
import { SettingsService } from '../settings/settings-service.ts'
import { SqliteStore } from '../store/sqlite-store.ts'
import { SecretBox } from './secret-box.ts'
import { SecretService } from './secret-service.ts'

const store = new SqliteStore(':memory:')
const settings = new SettingsService(store, [{ code: 'local', display_name: 'Here' }])
const box = new SecretBox({ id: '00000001', bytes: new Uint8Array(32).fill(7) })
const secrets = new SecretService({ store, box, settings, clock: Date.now })
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
  const now = Date.now()
  const set = {
    organizationId: 'two',
    name: 'aaa',
    type: 'secret',
    region: 'local',
    createdAt: now,
    updatedAt: now,
  } as const
  await store.secrets.put(set, [moved], 10)
  await expect(secrets.valuesOf('two')).rejects.toThrow()
})
