import { CLOUD_ERRORS } from '@botcli/protocol/cloud'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { noRoomFor, superseded } from '../agents/deploy-failure.ts'
import { CloudFixture } from '../testing/cloud-fixture.ts'

interface Described {
  readonly description: string
  readonly headers?: object
}

interface Operation {
  readonly requestBody?: { readonly required: boolean }
  readonly responses: Readonly<Record<string, Described>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

let cloud: CloudFixture
let document: Document
beforeAll(async () => {
  cloud = await CloudFixture.start()
  document = (await cloud.request('/v1/openapi.json', { key: '' })).body as Document
})
afterAll(() => cloud.close())

function posted(path: string): Operation {
  const operation = document.paths[path]?.post
  if (operation === undefined) throw new Error(`nothing is posted to ${path}`)
  return operation
}

/** The errors that an answer is described to have. */
function codesOf(path: string, status: number): readonly string[] {
  const { description = '' } = posted(path).responses[status] ?? {}
  return description.split('\n\n').map((line) => line.split(': ')[0] ?? '')
}

it.each([
  [
    '/v1/agents',
    400,
    ['INVALID_REQUEST', 'DEPLOY-BUILD-NOT-SUCCESSFUL', 'DEPLOY-REGION-MISMATCH', 'DEPLOY-IMAGE-NOT-FOUND'],
  ],
  ['/v1/agents', 404, ['DEPLOY-BUILD-NOT-FOUND', 'DEPLOY-SECRET-NOT-FOUND']],
  ['/v1/public/{agentName}/start', 502, ['DEPLOY-START-FAILED', 'DEPLOY-SESSION-FAILED']],
])('describes every error that POST %s can give with %i', (path, status, codes) => {
  expect(codesOf(path, status).toSorted()).toEqual(codes.toSorted())
})

it('describes which errors say when to come back', () => {
  for (const path of ['/v1/agents', '/v1/public/{agentName}/start']) {
    const { responses } = posted(path)
    expect(responses[429]?.headers).toHaveProperty(['Retry-After', 'schema'])
    expect(responses[400]).not.toHaveProperty('headers')
  }
})

it('describes where a body may be left out, and what a start takes', () => {
  expect(posted('/v1/agents').requestBody?.required).toBe(true)
  expect(posted('/v1/public/{agentName}/start').requestBody?.required).toBe(false)
  const closed = { additionalProperties: false }
  const open = { additionalProperties: true, description: expect.stringContaining('published clients') }
  const { StartRequest, CreateAgentRequest } = document.components.schemas
  expect([CreateAgentRequest, StartRequest]).toMatchObject([closed, open])
})

it('knows every code with which a deployment can fail', () => {
  for (const { code } of [superseded('Deployment 2'), noRoomFor(60)])
    expect(CLOUD_ERRORS).toHaveProperty(code)
})
