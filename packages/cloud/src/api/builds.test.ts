import { createHash } from 'node:crypto'
import { buildRecord, contextManifest, createBuildResponse } from '@botcli/protocol/cloud'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CloudFixture, packed, until } from '../testing/cloud-fixture.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('builds', () => {
  let cloud: CloudFixture
  beforeAll(async () => {
    cloud = await CloudFixture.start()
  })
  afterAll(() => cloud.close())

  it('are made of an upload, and end with their log sealed', async () => {
    const created = await cloud.build({
      Dockerfile: 'RUN echo hello\nRUN cat data/a.txt\n',
      'data/a.txt': 'from a file\n',
    })
    expect(createBuildResponse.parse(created)).toBeTruthy()
    expect(created).toMatchObject({
      cached: false,
      build: { status: expect.stringMatching(/pending|building/) },
    })
    const record = await cloud.ended(created.build.id)
    expect(buildRecord.parse(record)).toMatchObject({
      status: 'success',
      organizationId: cloud.keys.organizationId,
      region: 'local',
      dockerfilePath: 'Dockerfile',
      errorMessage: null,
      failure: null,
      imageUri: expect.stringContaining(created.build.id),
      imageSizeBytes: 36,
      contextHash: created.contextHash,
    })
    expect(record.buildDurationSeconds).toBeGreaterThanOrEqual(0)
    const logs = await cloud.logs(created.build.id)
    expect(logs).toContain('hello')
    expect(logs).toContain('from a file')
    expect(logs[0]).toBe('Builder: scripted 1.0')
    expect(logs.at(-1)).toMatch(/^Built bundle:/)
  })

  it('have the hash that the protocol defines, whatever is not content', async () => {
    const text = 'RUN true\n'
    const { contextHash, build } = await cloud.build({ Dockerfile: text, 'a/link': '-> ../Dockerfile' })
    const manifest = contextManifest([
      { path: 'Dockerfile', kind: 'file', size: text.length, digest: sha256(text) },
      { path: 'a/link', kind: 'link', size: 13, digest: sha256('../Dockerfile') },
    ])
    expect(contextHash).toBe(sha256(manifest))
    expect(build.contextSizeBytes).toBe(text.length)
  })

  it('come from the cache when the same thing was built, and only then', async () => {
    const files = { Dockerfile: 'RUN echo cached\n', 'Other.Dockerfile': 'RUN echo other\n' }
    const first = await cloud.build(files)
    await cloud.ended(first.build.id)
    const uploadId = await cloud.upload(files)
    const again = await cloud.send('POST', '/v1/builds', { uploadId, region: 'local' })
    expect(again.status).toBe(200)
    expect(again.body).toMatchObject({ cached: true, build: { id: first.build.id, status: 'success' } })
    const other = await cloud.send('POST', '/v1/builds', {
      ...{ uploadId, region: 'local', dockerfilePath: 'Other.Dockerfile' },
    })
    expect(other.status).toBe(201)
    const fresh = await cloud.send('POST', '/v1/builds', { uploadId, region: 'local', noCache: true })
    expect(fresh.status).toBe(201)
    expect(fresh.body).toMatchObject({ cached: false })
  })

  it('are told before anything is sent, if the same thing was built', async () => {
    const { build, contextHash } = await cloud.build({ Dockerfile: 'RUN echo told before\n' })
    const asked = `/v1/builds?reusable=true&region=local&contextHash=${contextHash}`
    expect((await cloud.send('GET', asked, undefined)).body).toMatchObject({ builds: [], total: 0 })
    const { imageUri } = await cloud.ended(build.id)
    expect((await cloud.send('GET', asked, undefined)).body).toMatchObject({
      builds: [{ id: build.id }],
      total: 1,
    })
    const other = await cloud.send('GET', `${asked}&dockerfilePath=Other`, undefined)
    expect(other.body).toMatchObject({ builds: [] })
    await cloud.builder.remove(imageUri ?? '')
    expect((await cloud.send('GET', asked, undefined)).body).toMatchObject({ builds: [] })
    expect(await cloud.send('GET', '/v1/builds?reusable=true', undefined)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('contextHash') },
    })
  })

  it('are built anew when their base is another one, or what was made is gone', async () => {
    const files = { Dockerfile: 'RUN echo based\n' }
    const builtAnew = async () => {
      const { cached, build } = await cloud.build(files)
      await cloud.ended(build.id)
      return { anew: !cached, imageUri: (await cloud.record(build.id)).imageUri ?? '' }
    }
    cloud.builder.bases = [{ name: 'python:3.11', id: 'sha256:1' }]
    expect(await builtAnew()).toMatchObject({ anew: true })
    expect(await builtAnew()).toMatchObject({ anew: false })
    cloud.builder.bases = [{ name: 'python:3.11', id: 'sha256:2' }]
    const { imageUri, anew } = await builtAnew()
    expect(anew).toBe(true)
    expect(await builtAnew()).toEqual({ anew: false, imageUri })
    await cloud.builder.remove(imageUri)
    expect(await builtAnew()).toMatchObject({ anew: true })
  })

  it('are not taken from the cache of a failed one', async () => {
    const files = { Dockerfile: 'FAIL install_failed no\n' }
    await cloud.ended((await cloud.build(files)).build.id)
    expect((await cloud.build(files)).cached).toBe(false)
  })

  it('fail with the code, the step, the line and the telling line in the log', async () => {
    const { build } = await cloud.build({ Dockerfile: 'RUN echo first\nRUN echo broken >&2; exit 3\n' })
    const record = await cloud.ended(build.id)
    expect(record).toMatchObject({
      status: 'failed',
      imageUri: null,
      failure: { code: 'command_failed', step: 'RUN echo broken >&2; exit 3', line: 2 },
    })
    const logs = await cloud.logs(build.id)
    expect(logs).toContain('broken')
    expect(logs.at(-2)).toBe(`Failed: ${record.errorMessage}`)
    expect(logs.at(-1)).toBe(`Hint: ${record.failure?.hint}`)
  })

  it('fail as ours when the builder breaks', async () => {
    const { build } = await cloud.build({ Dockerfile: 'CRASH in the middle\n' })
    expect(await cloud.ended(build.id)).toMatchObject({
      status: 'failed',
      failure: { code: 'builder_failed' },
    })
  })

  it('are cancelled while they run', async () => {
    const { build } = await cloud.build({ Dockerfile: 'RUN echo begun; sleep 60\n' })
    await until(async () => (await cloud.logs(build.id)).includes('begun'), 'the build to run')
    expect((await cloud.request(`/v1/builds/${build.id}`, { method: 'DELETE' })).body).toEqual({
      status: 'OK',
    })
    const record = await cloud.record(build.id)
    expect(record).toMatchObject({ status: 'failed', failure: { code: 'cancelled' } })
    expect(record.errorMessage).toContain('cancelled')
    expect(await cloud.logs(build.id)).toContain('Failed: The build was cancelled.')
  })

  it('are removed with their log and what they made when they are over', async () => {
    const { build } = await cloud.build({ Dockerfile: 'RUN echo to be removed\n' })
    const { imageUri } = await cloud.ended(build.id)
    expect((await cloud.request(`/v1/builds/${build.id}`, { method: 'DELETE' })).status).toBe(200)
    expect(cloud.builder.removed).toContain(imageUri)
    for (const path of ['', '/logs']) {
      expect((await cloud.request(`/v1/builds/${build.id}${path}`)).status).toBe(404)
    }
    expect((await cloud.request(`/v1/builds/${build.id}`, { method: 'DELETE' })).status).toBe(404)
  })

  it('never have secrets in their log, nor in what they say of a failure', async () => {
    const value = 'hunter2-hunter2'
    await cloud.send('PUT', '/v1/secrets/of-builds', { secrets: [{ secretKey: 'A', secretValue: value }] })
    const { build } = await cloud.build({
      Dockerfile: `RUN printf 'hunter2-'; sleep 0.1; echo hunter2\nFAIL command_failed it said ${value}\n`,
    })
    const record = await cloud.ended(build.id)
    expect(JSON.stringify([record, await cloud.logs(build.id)])).not.toContain(value)
    expect(record.errorMessage).toBe('it said ***')
    expect(record.failure?.step).toBe('FAIL command_failed it said ***')
  })

  it('leave out files that hold secrets, and say so', async () => {
    const { build } = await cloud.build({
      Dockerfile: 'RUN ls -A\n',
      '.env': 'KEY=1',
      '.env.example': 'KEY=',
    })
    await cloud.ended(build.id)
    const logs = await cloud.logs(build.id)
    expect(logs).toContain('Left out because they hold secrets: .env')
    expect(logs).toContain('.env.example')
    expect(logs).not.toContain('.env')
  })

  it.each([
    ['an id that is none', { uploadId: 'x', region: 'local' }, 'uploadId'],
    ['an unknown region', { uploadId: UNKNOWN, region: 'mars' }, 'Allowed: local'],
    [
      'a path out of the context',
      { uploadId: UNKNOWN, region: 'local', dockerfilePath: '../D' },
      'dockerfilePath',
    ],
    ['an unknown field', { uploadId: UNKNOWN, region: 'local', platform: 'arm' }, 'platform'],
    ['nothing', {}, 'region'],
  ])('are refused for %s', async (_, request, named) => {
    const { status, body } = await cloud.send('POST', '/v1/builds', request)
    expect(status).toBe(400)
    expect(body).toEqual({ error: expect.stringContaining(named), code: 'INVALID_REQUEST' })
  })

  it('are not made of an upload that is not there', async () => {
    const { status, body } = await cloud.send('POST', '/v1/builds', { uploadId: UNKNOWN, region: 'local' })
    expect(status).toBe(404)
    expect(body).toEqual({ error: expect.stringContaining('uploadId'), code: 'NOT_FOUND' })
  })

  it('are found by their ids in capital letters, too', async () => {
    const { build } = await cloud.build({ Dockerfile: 'RUN echo capital\n' })
    await cloud.ended(build.id)
    const id = build.id.toUpperCase()
    expect((await cloud.record(id)).id).toBe(build.id)
    expect(await cloud.logs(id)).toContain('capital')
  })

  it('are refused as long as nothing was uploaded, or when it is no context', async () => {
    const place = await cloud.uploadPlace()
    const create = () => cloud.send('POST', '/v1/builds', { uploadId: place.uploadId, region: 'local' })
    expect((await create()).body).toMatchObject({ error: expect.stringContaining('nothing was uploaded') })
    await cloud.sendForm(place, Buffer.from('no archive'))
    const { status, body } = await create()
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: expect.stringContaining('gzip'), code: 'INVALID_REQUEST' })
  })

  describe('are uploaded', () => {
    it('to a place that takes one form', async () => {
      const place = await cloud.uploadPlace()
      const context = await packed({ Dockerfile: 'RUN true\n' })
      expect((await cloud.sendForm(place, context)).status).toBe(204)
      expect(await cloud.sendForm(place, context)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    })

    it('with the fields that belong to it', async () => {
      const [one, other] = [await cloud.uploadPlace(), await cloud.uploadPlace()]
      const context = await packed({ Dockerfile: 'RUN true\n' })
      const wrong = [
        { ...one.uploadFields, token: 'x' },
        { ...one.uploadFields, token: '' },
        other.uploadFields,
        { ...one.uploadFields, expires: String(Date.now() + 1e9) },
        {},
      ]
      for (const uploadFields of wrong) {
        expect(await cloud.sendForm({ ...one, uploadFields }, context)).toMatchObject({
          status: 401,
          body: { code: 'UNAUTHORIZED' },
        })
      }
      expect((await cloud.sendForm(one, context)).status).toBe(204)
    })

    it('as a form, not as anything else', async () => {
      const { uploadUrl } = await cloud.uploadPlace()
      for (const [type, body] of [
        ['application/json', '{}'],
        ['multipart/form-data', 'x'],
        ['multipart/form-data; boundary=x', '--x\r\n\r\n\r\n--x--'],
        ['multipart/form-data; boundary=x', '--x--'],
        ['multipart/form-data; boundary=x', 'never ends'],
      ] as const) {
        const response = await fetch(uploadUrl, { method: 'POST', body, headers: { 'content-type': type } })
        expect(response.status).toBe(400)
        expect(await response.json()).toMatchObject({ code: 'INVALID_REQUEST' })
      }
    })
  })

  describe('are listed', () => {
    it('by filter, page and cursor', async () => {
      const key = (await cloud.addOrganization()).privateKey
      const ids: string[] = []
      for (const step of [1, 2, 3, 4, 5]) {
        const { build } = await cloud.build({ Dockerfile: `RUN echo list ${step}\n` }, {}, key)
        await cloud.ended(build.id, key)
        ids.unshift(build.id)
      }
      const list = async (query: string) => {
        const { body } = await cloud.request(`/v1/builds?${query}`, { key })
        const { builds, ...rest } = body as { builds: { id: string }[]; nextCursor?: string; total: number }
        return { ids: builds.map(({ id }) => id), ...rest }
      }
      expect(await list('')).toEqual({ ids, total: 5, limit: 20, offset: 0 })
      expect(await list('limit=2&offset=2')).toMatchObject({ ids: ids.slice(2, 4), total: 5, offset: 2 })
      const seen: string[] = []
      let cursor: string | undefined = ''
      while (cursor !== undefined) {
        const page: { ids: string[]; nextCursor?: string } = await list(
          `limit=2${cursor && `&cursor=${cursor}`}`,
        )
        seen.push(...page.ids)
        cursor = page.nextCursor
      }
      expect(seen).toEqual(ids)
      expect(await list('status=failed')).toMatchObject({ ids: [], total: 0 })
      const { contextHash } = await cloud.record(ids[1] ?? '', key)
      expect(
        await list(`contextHash=${contextHash}&region=local&dockerfilePath=Dockerfile&status=success`),
      ).toMatchObject({
        ids: [ids[1]],
      })
    })

    it.each([
      'limit=0',
      'limit=101',
      'limit=x',
      'limit=1.5',
      'limit=1&limit=1',
      'offset=-1',
      'status=done',
      'cursor=x',
      `cursor=${Buffer.from('1 x').toString('base64url')}`,
      'offset=1&cursor=x',
      'state=failed',
    ])('only with a right query, not with %s', async (query) => {
      const { status, body } = await cloud.request(`/v1/builds?${query}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({ code: 'INVALID_REQUEST' })
    })
  })

  it.each(['', '/logs'])('that are unknown are 404, and ids that are none are 400: %s', async (path) => {
    expect(await cloud.request(`/v1/builds/${UNKNOWN}${path}`)).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    })
    for (const id of ['x', 'null', `${UNKNOWN}0`, '%20', '..%2f']) {
      expect(await cloud.request(`/v1/builds/${id}${path}`)).toMatchObject({
        status: 400,
        body: { code: 'INVALID_REQUEST', error: expect.stringContaining('buildId') },
      })
    }
  })

  it('never met a fault of ours', () => {
    const faults = cloud.told.filter(
      (line) => line.includes('"level":"error"') && !line.includes('in the middle'),
    )
    expect(faults).toEqual([])
  })
})
