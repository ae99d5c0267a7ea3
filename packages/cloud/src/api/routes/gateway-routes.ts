import { agentName } from '@botcli/protocol/cloud'
import * as z from 'zod'
import { sessionId } from '../../gateway/session-proxy.ts'
import { type Route, type RouteMethod, route } from '../route.ts'

const METHODS: Readonly<Partial<Record<RouteMethod, string>>> = {
  GET: 'getFromSession',
  HEAD: 'headFromSession',
  POST: 'postToSession',
  PUT: 'putToSession',
  PATCH: 'patchSession',
  DELETE: 'deleteFromSession',
  OPTIONS: 'optionsOfSession',
}

const path = z
  .string()
  .min(1)
  .describe(
    'What is asked of the session, such as api/offer. It may have slashes, which are sent as they are or encoded; it may not have "." or ".." between them.',
  )
const token = z.string().regex(/^[\w-]{1,512}$/)

/** What goes past the routes to the instances of sessions. These are for the document; a gateway serves them. */
export function gatewayRoutes(): readonly Route[] {
  const tag = 'Public'
  const proxied = Object.entries(METHODS).map(([method, operationId]) =>
    route({
      ...{ method: method as RouteMethod, operationId, tag, passesThrough: true },
      path: '/v1/public/{agentName}/sessions/{sessionId}/{path}',
      summary: 'Goes to the instance that runs the session, and its answer comes back, both as they are.',
      auth: 'public',
      params: { agentName, sessionId, path },
      answers: {},
      errors: ['NOT_FOUND', 'RATE_LIMITED', 'DEPLOY-SESSION-FAILED'],
    }),
  )
  const websockets = [
    ['ws', 'connectCarrier', 'The WebSocket of a phone call. The token is part of the wsUrl of a start.'],
    ['ws-client', 'connectClient', 'The WebSocket of a client. The token is part of the wsUrl of a start.'],
  ] as const
  return [
    ...proxied,
    ...websockets.map(([name, operationId, summary]) =>
      route({
        ...{ method: 'GET', operationId, tag, summary },
        path: `/v1/public/{agentName}/sessions/{sessionId}/{token}/${name}`,
        auth: 'none',
        params: { agentName, sessionId, token },
        answers: { 101: undefined },
        errors: ['FORBIDDEN', 'RATE_LIMITED', 'DEPLOY-SESSION-FAILED'],
      }),
    ),
  ]
}
