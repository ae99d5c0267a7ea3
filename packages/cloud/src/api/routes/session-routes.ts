import { startRequestSchema } from '@botcli/protocol'
import {
  agentName,
  publicStartResponse,
  SESSION_LIST_LIMIT,
  sessionListResponse,
  sessionRecord,
  stopSessionResponse,
} from '@botcli/protocol/cloud'
import * as z from 'zod'
import { CloudError } from '../../errors.ts'
import type { SessionService } from '../../sessions/session-service.ts'
import type { StartCaller, StartService } from '../../sessions/start-service.ts'
import type { CallerRequest } from '../caller.ts'
import { type Route, route } from '../route.ts'

const MAX_START_BYTES = 1024 * 1024
const { min, max, default: usual } = SESSION_LIST_LIMIT
const seconds = z.int().min(0).max(100_000_000_000)
const listQuery = z.strictObject({
  limit: z.int().min(min).max(max).default(usual),
  offset: z.int().min(0).max(1_000_000_000).optional(),
  cursor: z.string().max(200).optional(),
  deploymentId: z.guid().toLowerCase().optional(),
  status: z.enum(['active', 'ended', 'all']).default('all'),
  startType: z.enum(['cold', 'warm', 'all']).default('all'),
  startTime: seconds.optional().describe('Only those that began then or later, in seconds since 1970.'),
  endTime: seconds.optional().describe('Only those that began then or earlier, in seconds since 1970.'),
  startTimeMin: seconds.optional().describe('Only those whose start took so many seconds or more.'),
  startTimeMax: seconds.optional().describe('Only those whose start took so many seconds or less.'),
})
const params = { agentName, sessionId: z.guid().toLowerCase() }

/** What the routes call. */
export interface SessionRoutesOptions {
  readonly sessions: SessionService
  readonly starts: StartService
  /** How whoever asked by a request reached us. */
  readonly callerOf: (incoming: CallerRequest) => StartCaller
}

/** Sessions of agents, and how they are started. */
export function sessionRoutes({ sessions, starts, callerOf }: SessionRoutesOptions): readonly Route[] {
  const tag = 'Sessions'
  return [
    route({
      method: 'GET',
      path: '/v1/agents/{agentName}/sessions',
      operationId: 'listSessions',
      tag,
      summary: 'Lists the sessions of an agent, newest first.',
      params: { agentName },
      query: listQuery,
      answers: { 200: sessionListResponse },
      errors: ['NOT_FOUND'],
      handle: async ({ organizationId, params: { agentName: name }, query }) => {
        if (query.cursor !== undefined && query.offset !== undefined) {
          throw new CloudError('INVALID_REQUEST', 'cursor and offset cannot both be given.')
        }
        return { status: 200, body: await sessions.list(organizationId, name, listRequestOf(query)) }
      },
    }),
    route({
      method: 'GET',
      path: '/v1/agents/{agentName}/sessions/{sessionId}',
      operationId: 'getSession',
      tag,
      summary: 'Gives a session, with the cause of its end when it is over.',
      params,
      answers: { 200: sessionRecord },
      errors: ['NOT_FOUND'],
      handle: async ({ organizationId, params: { agentName: name, sessionId } }) => ({
        status: 200,
        body: await sessions.get(organizationId, name, sessionId),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/v1/agents/{agentName}/sessions/{sessionId}',
      operationId: 'stopSession',
      tag,
      summary: 'Ends a session at once.',
      params,
      answers: { 200: stopSessionResponse },
      errors: ['NOT_FOUND', 'CONFLICT', 'DEPLOY-SESSION-FAILED'],
      handle: async ({ organizationId, params: { agentName: name, sessionId } }) => ({
        status: 200,
        body: {
          status: 'terminated',
          session_id: sessionId,
          session: await sessions.stop(organizationId, name, sessionId),
        },
      }),
    }),
    route({
      method: 'POST',
      path: '/v1/public/{agentName}/start',
      operationId: 'startSession',
      tag: 'Public',
      summary: 'Starts a session of an agent, and says how its caller gets to it.',
      auth: 'public',
      params: { agentName },
      body: startRequestSchema,
      maxBodyBytes: MAX_START_BYTES,
      answers: { 200: publicStartResponse },
      errors: [
        'NOT_FOUND',
        'PAYLOAD_TOO_LARGE',
        'DEPLOY-NOT-READY',
        'DEPLOY-AT-CAPACITY',
        'DEPLOY-START-FAILED',
        'DEPLOY-SESSION-FAILED',
      ],
      handle: async ({ organizationId, params: { agentName: name }, body, incoming }) => ({
        status: 200,
        body: await starts.start(organizationId, name, body, callerOf(incoming)),
      }),
    }),
  ]
}

function listRequestOf(query: z.infer<typeof listQuery>) {
  const { status, startType, startTime, endTime, startTimeMin, startTimeMax, offset = 0, ...rest } = query
  // Zero is what the published API says where nothing is wanted.
  const ms = (value: number | undefined): number | undefined => (value ? value * 1000 : undefined)
  return {
    ...rest,
    offset,
    status: status === 'all' ? undefined : status,
    coldStart: startType === 'all' ? undefined : startType === 'cold',
    startTime: ms(startTime),
    endTime: ms(endTime),
    startMsMin: ms(startTimeMin),
    startMsMax: ms(startTimeMax),
  }
}
