import { randomUUID } from 'node:crypto'
import { CLOUD_ERRORS } from '@botcli/protocol/cloud'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'
import type { CloudFixture } from '../testing/cloud-fixture.ts'
import { type RawAnswer, rawRequest } from '../testing/raw-http.ts'

type Json = Readonly<Record<string, unknown>>
interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Json }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> }
  readonly responses: Readonly<Record<string, unknown>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constant('\ud800'),
)
/** What is sent is not so wrong that nothing of it is ever understood: it goes on until these have come. */
const WANTED: Readonly<Record<string, number>> = {
  createKey: 201,
  upsertSecretSet: 202,
  listBuilds: 200,
  getBuild: 404,
  updateAgent: 200,
  startSession: 200,
  getSession: 200,
  getAgentLogs: 200,
}
const MAX_ROUNDS = 10
const anything = fc.oneof(fc.jsonValue({ maxDepth: 3 }), text)

/** Values that a schema describes, or nearly so. */
function near(schema: Json, document: Document): fc.Arbitrary<unknown> {
  if (typeof schema.$ref === 'string') {
    return near(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, document)
  }
  const options = (schema.anyOf ?? schema.oneOf) as readonly Json[] | undefined
  if (options) return fc.oneof(...options.map((option) => near(option, document)))
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.oneof(fc.constantFrom(...schema.enum), text)
  if (schema.type === 'array') return fc.array(near((schema.items ?? {}) as Json, document), { maxLength: 4 })
  if (schema.type === 'object') {
    const properties = Object.entries((schema.properties ?? {}) as Record<string, Json>)
    const shape = Object.fromEntries(
      properties.map(([name, one]) => [
        name,
        fc.oneof(
          // What it must look like is not in its schema.
          {
            weight: 8,
            arbitrary: name === 'image' ? fc.constant('registry.test/bot:1') : near(one, document),
          },
          anything,
        ),
      ]),
    )
    const partial = fc.record(shape, { requiredKeys: [] })
    const exact = fc.record(shape)
    // Where one of many is wrong in itself or beside another, only what has few is ever right.
    const few = fc
      .subarray(Object.keys(shape), { maxLength: Math.min(1, properties.length) })
      .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, shape[name] ?? anything]))))
    const more = fc
      .tuple(exact, fc.dictionary(text, anything, { maxKeys: 2 }))
      .map(([a, b]) => ({ ...a, ...b }))
    return fc.oneof({ weight: 4, arbitrary: exact }, { weight: 2, arbitrary: few }, partial, more)
  }
  if (schema.type === 'integer')
    return fc.oneof(fc.integer({ min: -2, max: 10_002 }), fc.maxSafeInteger(), fc.double())
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.format === 'uuid') return fc.oneof(fc.uuid(), fc.constant(randomUUID()), text)
  if (typeof schema.pattern === 'string') {
    return fc.oneof({ weight: 8, arbitrary: fc.stringMatching(new RegExp(schema.pattern)) }, text)
  }
  const likely = fc.constantFrom('local', 'abc', 'Dockerfile', '../x', 'bWU6dG9rZW4=')
  return fc.oneof({ weight: 4, arbitrary: fc.constant('local') }, likely, text)
}

describe('requests made from the description of the API, and wrong in every way', () => {
  let house: AgentHouse
  let cloud: CloudFixture
  let document: Document
  let sessionId: string
  beforeAll(async () => {
    house = await AgentHouse.open()
    cloud = house.fixture
    document = (await cloud.request('/v1/openapi.json')).body as Document
    for (const name of ['echo', 'doomed']) await house.deployed(name)
    sessionId = (await house.session('echo')).id
  })
  afterAll(() => house.close())

  /** What is there, among all that is not. */
  function known(
    { name, schema }: { name: string; schema: Json },
    operationId: string,
  ): fc.Arbitrary<unknown> {
    const some = near(schema, document)
    if (name === 'agentName')
      return fc.oneof(fc.constant(operationId === 'deleteAgent' ? 'doomed' : 'echo'), some)
    return name === 'sessionId' ? fc.oneof(fc.constant(sessionId), some) : some
  }

  const spelled = (value: unknown): string =>
    typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  // Half of a surrogate pair cannot be spelled in an address.
  const encoded = (value: unknown): string => encodeURIComponent(Buffer.from(spelled(value)).toString())

  function requestOf(path: string, method: string, operation: Operation): fc.Arbitrary<string> {
    const parameters = operation.parameters ?? []
    const parts = parameters
      .filter((one) => one.in === 'path')
      .map((one) => fc.tuple(fc.constant(one.name), known(one, operation.operationId)))
    const query = parameters
      .filter((one) => one.in === 'query')
      .map((one) => fc.tuple(fc.constant(one.name), near(one.schema, document)))
    const schema = operation.requestBody?.content['application/json']?.schema
    const body = schema
      ? fc.oneof(
          { weight: 6, arbitrary: near(schema, document).map((value) => JSON.stringify(value) ?? '') },
          anything.map((value) => JSON.stringify(value)),
          fc.constant('{}'),
          text,
        )
      : fc.constant('')
    // The stream of an agent's log has no end.
    const stream = operation.operationId === 'getAgentLogs' ? [] : ['text/event-stream']
    const accepted = ['*/*', ...stream, 'text/plain;q=0.1', 'x', 'application/json;q=2']
    const chosen = fc.tuple(
      fc.tuple(...parts),
      fc.oneof(
        fc.subarray(query).chain((some) => fc.tuple(...some)),
        fc.array(fc.tuple(text, text), { maxLength: 2 }),
      ),
      body,
      fc.constantFrom('', 'application/json', 'text/plain', 'multipart/form-data; boundary=x'),
      fc.constantFrom(...accepted),
    )
    return chosen.map(([inPath, inQuery, content, type, accept]) => {
      const filled = inPath.reduce(
        (all, [name, value]) => all.replace(`{${name}}`, encoded(value) || '%20'),
        path,
      )
      const search = inQuery.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
      const bytes = Buffer.from(content)
      const head = [
        `${method.toUpperCase()} ${filled}${search && `?${search}`} HTTP/1.1`,
        'Host: localhost',
        'Connection: close',
        `Authorization: Bearer ${path.startsWith('/v1/public') ? cloud.keys.publicKey : cloud.keys.privateKey}`,
        `Accept: ${accept}`,
        ...(type ? [`Content-Type: ${type}`] : []),
        `Content-Length: ${bytes.length}`,
      ].join('\r\n')
      return `${head}\r\n\r\n${bytes.toString('latin1')}`
    })
  }

  function expectRight(
    answer: RawAnswer | undefined,
    allowed: Readonly<Record<string, unknown>>,
    hasBody: boolean,
  ): void {
    expect(answer).toBeDefined()
    if (!answer) return
    expect(answer.status).not.toBe(500)
    if (answer.status < 400) {
      expect(Object.keys(allowed)).toContain(String(answer.status))
      return
    }
    expect(answer.headers['content-type']).toContain('application/json')
    expect(Object.keys(allowed)).toContain(String(answer.status))
    if (!hasBody) return
    const { error, code } = JSON.parse(Buffer.from(answer.body, 'latin1').toString()) as Record<
      string,
      string
    >
    expect(error).toBeTruthy()
    // What an instance says itself is passed on as it is.
    expect([...Object.keys(CLOUD_ERRORS), 'x', 'not_found']).toContain(code)
  }

  it('are answered as described, never with 500', async () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const { operationId, requestBody, responses } = operation
        const wanted = WANTED[operationId]
        const statuses = new Set<number>()
        const property = fc.asyncProperty(requestOf(path, method, operation), async (request) => {
          const answer = await rawRequest(cloud.url, Buffer.from(request, 'latin1'))
          statuses.add(answer?.status ?? 0)
          // A path with an empty or odd part may be that of another route or of none.
          expectRight(answer, { ...responses, 404: '', 405: '', 304: '' }, method !== 'head')
        })
        for (let round = 0; round < MAX_ROUNDS; round += 1) {
          await fc.assert(property, { numRuns: requestBody ? 120 : 50 })
          if (wanted === undefined || statuses.has(wanted)) break
        }
        if (wanted !== undefined) expect(statuses, operationId).toContain(wanted)
      }
    }
    expect(cloud.told.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })

  it('are answered at any address, with any headers', async () => {
    const target = fc.oneof(
      fc.constantFrom(
        '/',
        '//',
        '/..',
        '/%',
        '/v1',
        '/v1/',
        '/v1/%zz',
        '/v1/builds/%E0%A4%A',
        '/\\',
        '*',
        'x',
        '/v1/../v1/keys',
      ),
      fc.webPath().map((path) => `/v1${path}`),
      fc.webQueryParameters().map((query) => `/v1/builds?${query}`),
    )
    const name = fc.constantFrom(
      'Host',
      'Authorization',
      'Accept',
      'Expect',
      'Content-Type',
      'Last-Event-ID',
      'If-None-Match',
      'Upgrade',
      'X-Forwarded-Host',
    )
    const value = fc
      .string({
        unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
        maxLength: 60,
      })
      .filter((one) => !one.includes('\u007f'))
    const method = fc.constantFrom(
      'GET',
      'POST',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'PUT',
      'TRACE',
      'PROPFIND',
      'HEAD',
    )
    const headers = fc.array(fc.tuple(name, value), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(method, target, headers, async (verb, path, given) => {
        const lines = given.map((pair) => pair.join(': '))
        if (!given.some(([one]) => one === 'Host')) lines.push('Host: localhost')
        if (!given.some(([one]) => one === 'Authorization'))
          lines.push(`Authorization: Bearer ${cloud.keys.privateKey}`)
        const request = `${verb} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`
        const answer = await rawRequest(cloud.url, Buffer.from(request, 'latin1'))
        expect(answer?.status).not.toBe(500)
        expect(answer).toBeDefined()
        if (verb === 'HEAD' || (answer?.status ?? 0) < 400) return
        expect(JSON.parse(answer?.body ?? '')).toMatchObject({
          error: expect.any(String),
          code: expect.any(String),
        })
      }),
      { numRuns: 300 },
    )
    expect(cloud.told.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })

  it('and the cloud still works afterwards', async () => {
    const { build } = await cloud.build({ Dockerfile: 'RUN echo still here\n' })
    expect(await cloud.ended(build.id)).toMatchObject({ status: 'success' })
  })
})
