import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyListResponse, secretSetResponse } from '@botcli/protocol/cloud'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CloudFixture } from '../testing/cloud-fixture.ts'

let cloud: CloudFixture
let now = Date.now()
beforeAll(async () => {
  const regions = [
    { code: 'local', display_name: 'Here' },
    { code: 'far', display_name: 'There' },
  ]
  cloud = await CloudFixture.start({ config: { regions }, clock: () => now })
})
afterAll(() => cloud.close())

const refusal = (status: number, code: string, error?: string) => ({
  status,
  body: { code, error: error === undefined ? expect.any(String) : expect.stringContaining(error) },
})

describe('keys', () => {
  const create = async (family: string, name = 'mine') => {
    const { status, body } = await cloud.send('POST', '/v1/keys', { name, family })
    expect(status).toBe(201)
    return body as { key: string; record: { id: string; prefix: string } }
  }
  const listed = async () => keyListResponse.parse((await cloud.request('/v1/keys')).body).keys

  it('are shown once, and stored only as hashes', async () => {
    const { key, record } = await create('private')
    expect(key).toMatch(/^sk_[0-9A-Za-z]{43}$/)
    expect((await create('public')).key).toMatch(/^pk_[0-9A-Za-z]{43}$/)
    expect(key.startsWith(record.prefix)).toBe(true)
    expect((await cloud.request('/v1/regions', { key })).status).toBe(200)
    expect(JSON.stringify(await listed())).not.toContain(key)
    for (const name of ['cloud.db', 'cloud.db-wal']) {
      expect(readFileSync(join(cloud.folder, name)).includes(key)).toBe(false)
    }
  })

  it('remember their last use, at most once a minute', async () => {
    const { key, record } = await create('private')
    const lastUsed = async () => (await listed()).find(({ id }) => id === record.id)?.lastUsedAt
    expect(await lastUsed()).toBeNull()
    const use = () => cloud.request('/v1/regions', { key })
    await use()
    const first = new Date(now).toISOString()
    expect(await lastUsed()).toBe(first)
    now += 59_000
    await use()
    expect(await lastUsed()).toBe(first)
    now += 1000
    await use()
    expect(await lastUsed()).toBe(new Date(now).toISOString())
  })

  it('open nothing from the moment they are revoked', async () => {
    const { key, record } = await create('private')
    expect((await cloud.request('/v1/keys', { key })).status).toBe(200)
    expect((await cloud.request(`/v1/keys/${record.id}`, { method: 'DELETE' })).body).toEqual({
      status: 'OK',
    })
    expect(await cloud.request('/v1/keys', { key })).toMatchObject(refusal(401, 'UNAUTHORIZED'))
    expect(await cloud.request(`/v1/keys/${record.id}`, { method: 'DELETE' })).toMatchObject(
      refusal(404, 'NOT_FOUND'),
    )
    expect((await listed()).find(({ id }) => id === record.id)?.revokedAt).toBe(new Date(now).toISOString())
  })

  it('are not all revoked: the last private one stays', async () => {
    const own = await cloud.addOrganization()
    const { body } = await cloud.request('/v1/keys', { key: own.privateKey })
    const { keys } = keyListResponse.parse(body)
    const remove = (family: string) =>
      cloud.request(`/v1/keys/${keys.find((one) => one.family === family)?.id}`, {
        ...{ method: 'DELETE', key: own.privateKey },
      })
    expect(await remove('private')).toMatchObject(refusal(409, 'CONFLICT', 'last private key'))
    expect((await remove('public')).status).toBe(200)
    expect((await cloud.request('/v1/keys', { key: own.privateKey })).status).toBe(200)
  })

  it.each([
    [{ name: '', family: 'private' }, 'name'],
    [{ name: 'x'.repeat(101), family: 'private' }, 'name'],
    [{ name: 'x', family: 'secret' }, 'family'],
    [{ name: 'x', family: 'private', scope: 'all' }, 'scope'],
    [[], ''],
    [null, ''],
  ])('are not made of %j', async (body, named) => {
    expect(await cloud.send('POST', '/v1/keys', body)).toMatchObject(refusal(400, 'INVALID_REQUEST', named))
  })
})

describe('secrets', () => {
  const put = (name: string, values: Readonly<Record<string, string>>, more = {}) => {
    const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }))
    return cloud.send('PUT', `/v1/secrets/${name}`, { secrets, ...more })
  }
  const names = async (set: string) => {
    const { body } = await cloud.request(`/v1/secrets/${set}`)
    return secretSetResponse.parse(body).secrets.map(({ fieldName }) => fieldName)
  }

  it('are put, merged, listed by name and removed; values never leave, nor are they on the disk', async () => {
    const value = 'a value that must not be seen'
    expect(await put('app-secrets', { A: value, B: 'b' })).toMatchObject({
      ...{ status: 202, body: { status: 'OK', region: 'local' } },
    })
    await put('app-secrets', { C: 'c', A: `${value} again` })
    expect(await names('app-secrets')).toEqual(['A', 'B', 'C'])
    expect((await cloud.request('/v1/secrets')).body).toEqual({
      sets: [{ name: 'app-secrets', type: 'secret', region: 'local', status: 'ready' }],
    })
    for (const name of ['cloud.db', 'cloud.db-wal']) {
      expect(readFileSync(join(cloud.folder, name)).includes(value)).toBe(false)
    }
    expect((await cloud.request('/v1/secrets/app-secrets/B', { method: 'DELETE' })).status).toBe(200)
    expect(await cloud.request('/v1/secrets/app-secrets/B', { method: 'DELETE' })).toMatchObject(
      refusal(404, 'NOT_FOUND'),
    )
    expect(await names('app-secrets')).toEqual(['A', 'C'])
    expect((await cloud.request('/v1/secrets/app-secrets', { method: 'DELETE' })).status).toBe(200)
    for (const method of ['GET', 'DELETE']) {
      expect(await cloud.request('/v1/secrets/app-secrets', { method })).toMatchObject(
        refusal(404, 'NOT_FOUND'),
      )
    }
  })

  it('are put all or none', async () => {
    await put('whole', { A: 'a' })
    expect(await put('whole', { B: 'b', 'not-a-name': 'c' })).toMatchObject(
      refusal(400, 'INVALID_REQUEST', 'secretKey'),
    )
    expect(await names('whole')).toEqual(['A'])
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`K${index}`, 'v']))
    expect(await put('whole', many)).toMatchObject(refusal(400, 'INVALID_REQUEST', '200'))
    expect(await names('whole')).toEqual(['A'])
  })

  it('have a region and a type that never change', async () => {
    await put('in-far', { A: 'a' }, { region: 'far' })
    expect((await put('in-far', { B: 'b' })).body).toEqual({ status: 'OK', region: 'far' })
    expect(await put('in-far', { B: 'b' }, { region: 'local' })).toMatchObject(
      refusal(400, 'INVALID_REQUEST', 'far'),
    )
    expect(await put('in-mars', { B: 'b' }, { region: 'mars' })).toMatchObject(
      refusal(400, 'INVALID_REQUEST', 'Allowed: local, far'),
    )
    const pull = { isImagePullSecret: true, host: 'registry.example', secretValue: btoa('me:token-token') }
    expect(await cloud.send('PUT', '/v1/secrets/in-far', pull)).toMatchObject(
      refusal(400, 'INVALID_REQUEST', 'type'),
    )
    expect((await cloud.send('PUT', '/v1/secrets/registry', pull)).status).toBe(202)
    expect(await cloud.request('/v1/secrets/registry')).toMatchObject(
      refusal(400, 'INVALID_REQUEST', 'pull secret'),
    )
    expect((await cloud.request('/v1/secrets')).body).toMatchObject({
      sets: expect.arrayContaining([
        { name: 'registry', type: 'imagePullSecret', region: 'local', status: 'ready' },
      ]),
    })
  })

  it.each(['ab', 'Upper', '-dash', 'dash-', 'a..b', 'a_b', 'x'.repeat(64), '%00abc', 'a%2fb'])(
    'are not put into a set named %s',
    async (name) => {
      expect(await put(name, { A: 'a' })).toMatchObject(refusal(400, 'INVALID_REQUEST', 'setName'))
    },
  )

  it('may be large, to a limit', async () => {
    const large = 'x'.repeat(64 * 1024)
    const values = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`K${index}`, large]))
    expect((await put('large', values)).status).toBe(202)
    expect(await put('large', { A: `${large}x` })).toMatchObject(
      refusal(400, 'INVALID_REQUEST', 'secretValue'),
    )
    expect(await put('large', { A: 'x'.repeat(40 * 1024 * 1024) })).toMatchObject(
      refusal(413, 'PAYLOAD_TOO_LARGE'),
    )
  })

  it('survive a restart', async () => {
    await put('kept', { A: 'a' })
    await cloud.restart()
    expect(await names('kept')).toEqual(['A'])
  })
})

describe('regions and settings', () => {
  it('come from the configuration', async () => {
    expect((await cloud.request('/v1/regions')).body).toEqual({
      regions: [
        { code: 'local', display_name: 'Here' },
        { code: 'far', display_name: 'There' },
      ],
    })
  })

  it('are read and changed', async () => {
    expect((await cloud.request('/v1/properties')).body).toEqual({ properties: { defaultRegion: 'local' } })
    const { status, body } = await cloud.send('PATCH', '/v1/properties', { defaultRegion: 'far' })
    expect(status).toBe(200)
    expect(body).toEqual((await cloud.request('/v1/properties/schema')).body)
    expect(body).toMatchObject({
      properties: {
        defaultRegion: {
          currentValue: 'far',
          default: 'local',
          readOnly: false,
          availableValues: ['local', 'far'],
        },
      },
    })
    expect((await cloud.request('/v1/properties')).body).toEqual({ properties: { defaultRegion: 'far' } })
    const { body: put } = await cloud.send('PUT', '/v1/secrets/by-default', {
      secrets: [{ secretKey: 'A', secretValue: 'a' }],
    })
    expect(put).toEqual({ status: 'OK', region: 'far' })
  })

  it.each([
    [{ defaultRegion: 'mars' }, 'Allowed: local, far'],
    [{}, 'at least one'],
    [{ name: 'x' }, 'name'],
    [{ defaultRegion: 5 }, 'defaultRegion'],
  ])('are not changed by %j', async (body, named) => {
    expect(await cloud.send('PATCH', '/v1/properties', body)).toMatchObject(
      refusal(400, 'INVALID_REQUEST', named),
    )
  })
})
