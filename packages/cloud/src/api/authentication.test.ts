import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CloudFixture } from '../testing/cloud-fixture.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const PARAMS: Readonly<Record<string, string>> = { setName: 'abc', secretKey: 'ABC' }

interface Operation {
  readonly operationId: string
  readonly security: readonly Readonly<Record<string, unknown>>[]
}

describe('who may call what', async () => {
  // The table of tests is made from the table of routes, so that no route can be forgotten.
  const table = await CloudFixture.start()
  const { body } = await table.request('/v1/openapi.json', { key: '' })
  await table.close()
  const { paths } = body as { paths: Record<string, Record<string, Operation>> }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ method: method.toUpperCase(), operationId: operation.operationId },
      path: path.replace(/\{(\w+)\}/g, (_, name: string) => PARAMS[name] ?? ID),
      isPrivate: operation.security.some((one) => 'PrivateKey' in one),
    })),
  )

  let cloud: CloudFixture
  let other: { privateKey: string; publicKey: string }
  beforeAll(async () => {
    cloud = await CloudFixture.start()
    other = await cloud.addOrganization()
  })
  afterAll(() => cloud.close())

  it('has every operation in it', () => {
    expect(operations.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining([
        'getBuildLogs',
        'createBuild',
        'revokeKey',
        'upsertSecretSet',
        'updateProperties',
      ]),
    )
    expect(operations.length).toBeGreaterThanOrEqual(19)
  })

  const call = (method: string, path: string, authorization: string | undefined) =>
    cloud.request(path, {
      ...{ method, key: '' },
      ...(authorization !== undefined && { headers: { authorization } }),
      // Whatever is wrong with it comes after the question who is asking.
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: 'no JSON' }),
    })
  const routes = [
    ...operations.filter(({ isPrivate }) => isPrivate),
    ...[
      ['GET', '/v1/unknown'],
      ['POST', '/v1'],
      ['PATCH', '/v1/builds'],
      ['GET', '/v1/builds/not-an-id'],
      ['GET', '/v1/builds/not-an-id/logs?limit=x'],
      ['GET', '/v1/builds/%zz'],
      ['DELETE', '/v1/builds/%2e%2e/logs'],
      ['OPTIONS', '/v1/builds'],
    ].map(([method = '', path = '']) => ({ operationId: 'none', method, path })),
  ]

  it.each(routes)('$method $path ($operationId) is for private keys', async ({ method, path }) => {
    for (const header of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Basic abc',
      'Bearer sk_wrong',
      `Bearer ${'x'.repeat(300)}`,
      `Bearer ${cloud.keys.privateKey}x`,
      `Bearer ${cloud.keys.privateKey} x`,
      cloud.keys.privateKey,
    ]) {
      const answer = await call(method, path, header)
      expect(answer).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED', error: expect.any(String) } })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
    const wrongFamily = await call(method, path, `Bearer ${cloud.keys.publicKey}`)
    expect(wrongFamily).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    const right = await call(method, path, `bearer ${other.privateKey}`)
    expect([401, 403]).not.toContain(right.status)
  })

  it.each([
    ['/v1/public', 404, 'NOT_FOUND'],
    ['/v1/public/my-bot', 404, 'NOT_FOUND'],
    ['/v1/public/my-bot/start', 400, 'INVALID_REQUEST'],
    ['/v1/public/x/sessions/y/z', 400, 'INVALID_REQUEST'],
    ['/v1/public/my-bot/sessions/00000000-0000-4000-8000-000000000000/z', 404, 'NOT_FOUND'],
  ])('%s is for public keys', async (path, status, code) => {
    expect((await call('POST', path, undefined)).status).toBe(401)
    expect((await call('POST', path, `Bearer ${cloud.keys.privateKey}`)).status).toBe(403)
    const right = await call('POST', path, `Bearer ${cloud.keys.publicKey}`)
    expect(right).toMatchObject({ status, body: { code } })
  })

  it.each(['/v1/openapi.json', '/healthz'])('%s is for everybody', async (path) => {
    expect((await call('GET', path, undefined)).status).toBe(200)
  })
})

describe('two organizations', () => {
  let cloud: CloudFixture
  let other: { privateKey: string; publicKey: string; organizationId: string }
  beforeAll(async () => {
    cloud = await CloudFixture.start()
    other = await cloud.addOrganization()
  })
  afterAll(() => cloud.close())

  it('cannot see, change or guess what is of the other', async () => {
    const { build } = await cloud.build({ Dockerfile: 'RUN echo mine\n' })
    await cloud.ended(build.id)
    const value = { secrets: [{ secretKey: 'A', secretValue: 'mine-mine' }] }
    await cloud.send('PUT', '/v1/secrets/mine', value)
    const { body: made } = await cloud.send('POST', '/v1/keys', { name: 'mine', family: 'public' })
    const keyId = (made as { record: { id: string } }).record.id
    const key = other.privateKey
    const UNKNOWN = '00000000-0000-4000-8000-000000000000'
    for (const [method, path, id] of [
      ['GET', '/v1/builds/*', build.id],
      ['GET', '/v1/builds/*/logs', build.id],
      ['DELETE', '/v1/builds/*', build.id],
      ['POST', '/v1/builds/*/cancel', build.id],
      ['DELETE', '/v1/keys/*', keyId],
    ] as const) {
      // The same words for what is of others and for what there is not, but for the id itself.
      const foreign = await cloud.request(path.replace('*', id), { method, key })
      const unknown = await cloud.request(path.replace('*', UNKNOWN), { method, key })
      expect(foreign.status).toBe(404)
      expect(JSON.stringify(foreign.body).replace(id, UNKNOWN)).toBe(JSON.stringify(unknown.body))
    }
    for (const method of ['GET', 'DELETE']) {
      expect((await cloud.request('/v1/secrets/mine', { method, key })).status).toBe(404)
      if (method === 'DELETE')
        expect((await cloud.request('/v1/secrets/mine/A', { method, key })).status).toBe(404)
    }
    expect((await cloud.request('/v1/builds', { key })).body).toMatchObject({ builds: [], total: 0 })
    expect((await cloud.request('/v1/secrets', { key })).body).toEqual({ sets: [] })
    expect(JSON.stringify((await cloud.request('/v1/keys', { key })).body)).not.toContain(keyId)
    expect(await cloud.logs(build.id)).toContain('mine')
  })

  it('do not share uploads or the cache, and may use the same names', async () => {
    const files = { Dockerfile: 'RUN echo same\n' }
    await cloud.ended((await cloud.build(files)).build.id)
    const uploadId = await cloud.upload(files)
    const request = { uploadId, region: 'local' }
    expect(await cloud.send('POST', '/v1/builds', request, other.privateKey)).toMatchObject({ status: 404 })
    const own = await cloud.build(files, {}, other.privateKey)
    expect(own).toMatchObject({ cached: false, build: { organizationId: other.organizationId } })
    await cloud.ended(own.build.id, other.privateKey)
    const value = (text: string) => ({ secrets: [{ secretKey: text, secretValue: 'x' }] })
    await cloud.send('PUT', '/v1/secrets/same', value('ONE'))
    await cloud.send('PUT', '/v1/secrets/same', value('TWO'), other.privateKey)
    expect((await cloud.request('/v1/secrets/same')).body).toMatchObject({ secrets: [{ fieldName: 'ONE' }] })
  })
})
