import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cloudErrorBody } from '@botcli/protocol/cloud'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CloudFixture, until } from '../testing/cloud-fixture.ts'
import { rawRequest } from '../testing/raw-http.ts'

let cloud: CloudFixture
let dashboard: string
beforeAll(async () => {
  dashboard = await mkdtemp(join(tmpdir(), 'botcli-dashboard-'))
  await mkdir(join(dashboard, 'assets'))
  await writeFile(join(dashboard, 'index.html'), '<title>Cloud</title>')
  await writeFile(join(dashboard, 'assets', 'a-123.js'), 'let a')
  cloud = await CloudFixture.start({ dashboardFolder: dashboard })
})
afterAll(async () => {
  await cloud.close()
  await rm(dashboard, { recursive: true })
})

describe('every error is JSON with error and code', () => {
  it.each([
    ['GET', '/v1/nothing', 404, 'NOT_FOUND'],
    ['GET', '/v1/builds/', 404, 'NOT_FOUND'],
    ['GET', '/nothing', 404, 'NOT_FOUND'],
    ['POST', '/nothing', 404, 'NOT_FOUND'],
    ['GET', '/v1/builds/%zz', 400, 'INVALID_REQUEST'],
    ['GET', '/v1/builds/%00', 400, 'INVALID_REQUEST'],
    ['GET', '/v1/builds/%zz/logs', 400, 'INVALID_REQUEST'],
  ])('%s %s', async (method, path, status, code) => {
    const answer = await cloud.request(path, { method })
    expect(answer.status).toBe(status)
    expect(cloudErrorBody.parse(answer.body).code).toBe(code)
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it.each([
    ['PUT', '/v1/builds', 'POST, GET, HEAD'],
    ['PATCH', '/v1/builds/11111111-1111-4111-8111-111111111111', 'GET, HEAD, DELETE'],
    ['POST', '/v1/builds/11111111-1111-4111-8111-111111111111/logs', 'GET, HEAD'],
    ['POST', '/v1/regions', 'GET, HEAD'],
    ['GET', '/v1/uploads/11111111-1111-4111-8111-111111111111', 'POST'],
    ['DELETE', '/v1/openapi.json', 'GET, HEAD'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
  ])('%s %s is told which methods there are', async (method, path, allowed) => {
    const answer = await cloud.request(path, { method })
    expect(answer).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } })
    expect(answer.headers.get('allow')).toBe(allowed)
  })

  it.each([
    ['', 'empty'],
    ['{', 'not JSON'],
    ['[]', 'object'],
    ['"x"', 'object'],
    ['null', 'object'],
    [new Uint8Array([0x22, 0xff, 0x22]), 'UTF-8'],
    [`{"region":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'region'],
  ])('a body that is %j', async (body, named) => {
    const answer = await cloud.request('/v1/builds/upload-url', { method: 'POST', body })
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } })
    expect(cloudErrorBody.parse(answer.body).error).toContain(named)
  })

  it('does not quote what was sent when it is no JSON', async () => {
    const body = '{"secrets":[{"secretKey":"A","secretValue":my-secret-value}]}'
    const answer = await cloud.request('/v1/secrets/abc', { method: 'PUT', body })
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer.body)).not.toContain('my-secret')
  })

  it('a body that is too large, told while it is still being sent', async () => {
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20))
        this.sent = (this.sent ?? 0) + 1
        if (this.sent > 40) controller.close()
      },
    } as UnderlyingDefaultSource & { sent?: number })
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    expect(await cloud.request('/v1/keys', init)).toMatchObject({
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE' },
    })
  })

  it.each([
    ['what is no HTTP', 'nonsense\r\n\r\n', 400],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a host that cannot be one', 'GET /v1/builds HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
    ['no host', 'GET /v1/builds HTTP/1.1\r\n\r\n', 400],
    ['a tunnel', 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n', 405],
    ['an expectation', 'GET /x HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n', 404],
    ['an upgrade', 'GET /x HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n', 404],
    ['an absolute address', 'GET http://x/v1/builds HTTP/1.1\r\nHost: x\r\n\r\n', 401],
    [
      'both kinds of length',
      'POST /v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
  ])('%s', async (_, bytes, status) => {
    const answer = await rawRequest(cloud.url, bytes)
    expect(answer?.status).toBe(status)
    expect(cloudErrorBody.parse(JSON.parse(answer?.body ?? ''))).toBeTruthy()
  })

  it('a tunnel that is broken off', async () => {
    for (let times = 0; times < 5; times += 1) {
      const socket = connect(Number(new URL(cloud.url).port), '127.0.0.1')
      socket.on('error', () => {})
      socket.write('CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n')
      await once(socket, 'data')
      socket.resetAndDestroy()
    }
    expect((await cloud.request('/v1/builds')).status).toBe(200)
  })

  it('a trace', async () => {
    const answer = await rawRequest(cloud.url, 'TRACE /x HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(answer?.status).toBeGreaterThanOrEqual(400)
    expect(answer?.status).toBeLessThan(500)
    expect(cloudErrorBody.parse(JSON.parse(answer?.body ?? ''))).toBeTruthy()
  })
})

it('serves the talk page beside the dashboard, and nothing twice', async () => {
  const talk = await mkdtemp(join(tmpdir(), 'botcli-talk-'))
  await mkdir(join(talk, 'assets'))
  await mkdir(join(talk, 'cloud'))
  await writeFile(join(talk, 'index.html'), '<title>Talk</title>')
  await writeFile(join(talk, 'assets', 'b-123.js'), 'let b')
  await writeFile(join(talk, 'cloud', 'index.html'), '<title>Cloud</title>')
  const both = await CloudFixture.start({ dashboardFolder: dashboard, talkFolder: talk })
  const page = await both.request('/talk/?agent=x', { key: '' })
  expect(page).toMatchObject({ status: 200, body: '<title>Talk</title>' })
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const script = await both.request('/talk/assets/b-123.js', { key: '' })
  expect(script.headers.get('cache-control')).toContain('immutable')
  expect((await both.request('/', { key: '' })).body).toBe('<title>Cloud</title>')
  for (const path of ['/talk/cloud/', '/talk/cloud/index.html', '/talk/a-123.js', '/assets/b-123.js']) {
    expect((await both.request(path, { key: '' })).status).toBe(404)
  }
  await both.close()
  await rm(talk, { recursive: true })
})

it('serves the dashboard at its own address, and knows when it is not built', async () => {
  const page = await cloud.request('/', { key: '' })
  expect(page).toMatchObject({ status: 200, body: '<title>Cloud</title>' })
  const policy = page.headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toMatch(/unsafe|data:|blob:|\*|http/)
  const script = await cloud.request('/assets/a-123.js', { key: '' })
  expect(script.headers.get('cache-control')).toContain('immutable')
  expect(script.headers.get('content-type')).toContain('javascript')
  expect((await cloud.request('/assets/..%2f..%2fcloud.db', { key: '' })).status).toBe(404)
  const bare = await CloudFixture.start()
  expect(await bare.request('/', { key: '' })).toMatchObject({
    status: 404,
    body: { error: expect.stringContaining('npm run build') },
  })
  await bare.close()
})

it('describes itself', async () => {
  const { status, body } = await cloud.request('/v1/openapi.json', { key: '' })
  expect(status).toBe(200)
  expect(body).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } })
  const { paths, components } = body as {
    paths: Record<string, Record<string, Record<string, unknown>>>
    components: { schemas: Record<string, unknown> }
  }
  expect(paths['/v1/builds/{buildId}/logs']?.get).toMatchObject({
    operationId: 'getBuildLogs',
    parameters: expect.arrayContaining([
      { name: 'buildId', in: 'path', required: true, schema: expect.objectContaining({ format: 'uuid' }) },
      {
        ...{ name: 'limit', in: 'query', required: false },
        schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 500 },
      },
    ]),
    responses: {
      200: expect.anything(),
      400: expect.anything(),
      401: expect.anything(),
      404: expect.anything(),
    },
  })
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const ids = operations.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  // Everything that is referred to is there.
  const references = JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
  const missing = [...references].map(([, name = '']) => name).filter((name) => !(name in components.schemas))
  expect(missing).toEqual([])
})

it('gives upload addresses by which the client can reach it', async () => {
  const ask = async (headers: Record<string, string>) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const body = '{"region":"local"}'
    const head = `POST /v1/builds/upload-url HTTP/1.1\r\nAuthorization: Bearer ${cloud.keys.privateKey}\r\nContent-Length: ${body.length}\r\n`
    const answer = await rawRequest(cloud.url, `${head}${lines.join('')}\r\n${body}`)
    return new URL((JSON.parse(answer?.body ?? '') as { uploadUrl: string }).uploadUrl).origin
  }
  expect(await ask({ Host: 'cloud.example:81' })).toBe('http://cloud.example:81')
  expect(await ask({ Host: 'a', 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'cloud.example, b' })).toBe(
    'https://cloud.example',
  )
  expect(await ask({ Host: 'a', 'X-Forwarded-Host': 'x/y?z' })).toBe(cloud.url)
})

it('serves logs in all their forms, to those who may read them', async () => {
  const { build } = await cloud.build({ Dockerfile: 'RUN for i in 1 2 3 4 5; do echo line $i; done\n' })
  await cloud.ended(build.id)
  const all = await cloud.logs(build.id)
  const path = `/v1/builds/${build.id}/logs`
  const newest = await cloud.request(`${path}?limit=2`)
  const { logs, nextToken } = newest.body as { logs: string[]; nextToken: string }
  expect(logs).toEqual(all.slice(-2))
  const older = await cloud.request(`${path}?limit=3&nextToken=${encodeURIComponent(nextToken)}`)
  expect(older.body).toMatchObject({ logs: all.slice(-5, -2) })
  const etag = newest.headers.get('etag') ?? ''
  expect((await cloud.request(`${path}?limit=2`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  const text = await cloud.request(path, { headers: { accept: 'text/plain' } })
  expect(text.body).toBe(`${all.join('\n')}\n`)
  const events = await cloud.request(path, { headers: { accept: 'text/event-stream' } })
  expect(String(events.body)).toContain('event: end')
  expect(String(events.body)).toContain('"status":"success"')
  expect((await cloud.request(path, { method: 'HEAD' })).status).toBe(200)
  const other = `${path}?nextToken=${encodeURIComponent(nextToken)}`.replace(
    build.id,
    '11111111-1111-4111-8111-111111111111',
  )
  expect((await cloud.request(other)).status).toBe(404)
  for (const query of ['limit=0', 'limit=10001', 'limit=x', 'limit=1&limit=2', 'nextToken=x']) {
    expect(await cloud.request(`${path}?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST' },
    })
  }
  // Another spelling of the same address.
  expect((await cloud.request(path.replace('/logs', '/%6Cogs'))).body).toMatchObject({ logs: all })
  expect((await cloud.request(path.replace(build.id, build.id.toUpperCase()))).body).toMatchObject({
    logs: all,
  })
})

it('follows a build live, and ends after its status is final', async () => {
  const { build } = await cloud.build({ Dockerfile: 'RUN echo one; sleep 0.3; echo two\n' })
  const response = await fetch(`${cloud.url}/v1/builds/${build.id}/logs`, {
    headers: { authorization: `Bearer ${cloud.keys.privateKey}`, accept: 'text/event-stream' },
  })
  let text = ''
  let statusAtEnd = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (text.includes('event: end') && statusAtEnd === '') statusAtEnd = (await cloud.record(build.id)).status
  }
  expect(text).toContain('data: "one"')
  expect(text).toContain('data: "two"')
  expect(statusAtEnd).toBe('success')
})

it('has logs that are empty before the first line', async () => {
  const busy = await CloudFixture.start({ config: { builds: { concurrency: 1 } } })
  const first = await busy.build({ Dockerfile: 'RUN sleep 30\n' })
  await until(async () => (await busy.record(first.build.id)).status === 'building', 'the first to run')
  const second = await busy.build({ Dockerfile: 'RUN echo never\n' })
  expect((await busy.request(`/v1/builds/${second.build.id}/logs`)).body).toEqual({ logs: [] })
  // One that waits is cancelled at once.
  expect((await busy.request(`/v1/builds/${second.build.id}`, { method: 'DELETE' })).status).toBe(200)
  expect(await busy.record(second.build.id)).toMatchObject({
    ...{ status: 'failed', startedAt: null, failure: { code: 'cancelled' } },
  })
  await busy.close()
})
