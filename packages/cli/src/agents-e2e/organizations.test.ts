import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { addOrganization } from '../../../cloud/src/testing/cloud-fixture.ts'
import { WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'
import { CloudHouse, type HouseKeys } from '../testing/cloud-house.ts'
import { COUNTING_BOTS } from '../testing/counting-bots.ts'
import { CountingCall } from '../testing/counting-call.ts'

// Real processes take their time on a machine that has much to do.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const AGENT = 'counting'
const BODIES: Readonly<Record<string, unknown>> = {
  updateAgent: { forceRedeploy: true },
  rollbackAgent: {},
  promoteAgent: { fromAgent: 'another' },
}

/** An operation of the document that is about an agent or a session. */
interface Operation {
  readonly method: string
  readonly path: string
  readonly operationId: string
  readonly family: 'private' | 'public' | 'none'
}

let house: CloudHouse
let others: HouseKeys
let call: CountingCall
let buildId: string
let operations: readonly Operation[] = []
beforeAll(async () => {
  house = await CloudHouse.open()
  buildId = await house.build(COUNTING_BOTS.typescript)
  await house.deployed(AGENT, { buildId, autoScaling: { minAgents: 1, maxAgents: 2 } })
  call = await CountingCall.begin(house, AGENT)
  others = await addOrganization(house.data)
  const { body } = await house.request<{
    paths: Record<string, Record<string, { operationId: string; security?: readonly unknown[] }>>
  }>('/v1/openapi.json')
  operations = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, security }]) => {
      if (operationId === undefined || !/\{(?:agentName|sessionId)\}/.test(path)) return []
      const family = path.startsWith('/v1/public/') ? ('public' as const) : ('private' as const)
      return [
        { method: method.toUpperCase(), path, operationId, family: security?.length === 0 ? 'none' : family },
      ]
    }),
  )
})
afterAll(async () => {
  await call.hangUp()
  await house.close()
})

/** Asks as somebody, about the agent and the session of these names. */
async function ask(
  { method, path, operationId }: Operation,
  key: string,
  agent: string,
  session: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const place = path
    .replace('{agentName}', agent)
    .replace('{sessionId}', session)
    .replace('{path}', 'api/offer')
    .replace('{token}', 'token')
  const hasBody = !['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method)
  const answer = await house.request(place, {
    method,
    key,
    ...(hasBody && { body: JSON.stringify(BODIES[operationId] ?? {}) }),
  })
  // What was asked for may be named in the answer, and nothing else of it.
  const body = JSON.stringify(answer.body).replaceAll(agent, 'AGENT').replaceAll(session, 'SESSION')
  return { status: answer.status, body }
}

describe('another organization', () => {
  it('is answered as if there were nothing, by every operation on agents and sessions', async () => {
    expect(operations.length).toBeGreaterThan(15)
    for (const operation of operations.filter(({ family }) => family !== 'none')) {
      const isPublic = operation.family === 'public'
      const key = isPublic ? others.publicKey : others.privateKey
      const real = await ask(operation, key, AGENT, call.sessionId)
      const nothing = await ask(operation, key, 'never-was', randomUUID())
      expect({ [operation.operationId]: real }).toEqual({ [operation.operationId]: nothing })
      expect({ [operation.operationId]: real.status }).toEqual({ [operation.operationId]: 404 })
      const wrong = await ask(
        operation,
        isPublic ? others.privateKey : others.publicKey,
        AGENT,
        call.sessionId,
      )
      expect({ [operation.operationId]: wrong.status }).toEqual({ [operation.operationId]: 403 })
    }
    await call.goesOn()
  })

  it('sees none of it in its lists, and can use none of it for agents of its own', async () => {
    const { body } = await house.request('/v1/agents', { key: others.privateKey })
    expect(body).toEqual({ services: [] })
    const asked = { serviceName: AGENT, buildId }
    const taken = await house.send<{ code: string; error: string }>(
      'POST',
      '/v1/agents',
      asked,
      others.privateKey,
    )
    const unknown = randomUUID()
    const nothing = await house.send<{ code: string; error: string }>(
      'POST',
      '/v1/agents',
      { ...asked, buildId: unknown },
      others.privateKey,
    )
    expect(taken.status).toBe(404)
    expect(taken.body.code).toBe(nothing.body.code)
    expect(taken.body.error.replace(buildId, 'ID')).toBe(nothing.body.error.replace(unknown, 'ID'))
  })

  it('opens no session with a token of another one, or under another name', async () => {
    const { body } = await house.startSession(AGENT)
    const token = /sessions\/[^/]+\/([^/]+)\//.exec(body.wsUrl)?.[1] ?? ''
    for (const url of [
      body.wsUrl.replace(token, 'x'.repeat(token.length)),
      body.wsUrl.replace(body.sessionId, call.sessionId),
      body.wsUrl.replace(`/${AGENT}/`, '/never-was/'),
      body.wsUrl.replace(body.sessionId, randomUUID()),
    ]) {
      expect(await WebsocketClient.refusal(url)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    }
    const joined = await CountingCall.join(body.sessionId, body.wsUrl)
    await joined.goesOn()
    // It opens its session once.
    expect((await WebsocketClient.refusal(body.wsUrl)).status).toBe(403)
    await joined.hangUp()
    await call.goesOn()
  })
})
