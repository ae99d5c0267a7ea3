import {
  agentDetails,
  agentListResponse,
  agentLogsResponse,
  agentName,
  createAgentRequest,
  DEPLOYMENT_LIST_LIMIT,
  deploymentListResponse,
  okResponse,
  promoteRequest,
  rollbackRequest,
  updateAgentRequest,
} from '@botcli/protocol/cloud'
import * as z from 'zod'
import { agentLogsQuery } from '../../agent-logs/agent-logs-query.ts'
import type { AgentService } from '../../agents/agent-service.ts'
import { type Route, route } from '../route.ts'

const listQuery = z.strictObject({
  includeActiveDeployment: z.enum(['true', 'false']).default('false'),
  region: z.string().max(100).optional(),
})
const { min, max, default: usual } = DEPLOYMENT_LIST_LIMIT
const deploymentsQuery = z.strictObject({
  limit: z.int().min(min).max(max).default(usual),
  offset: z.int().min(0).max(1_000_000_000).default(0),
})
const logsHeaders = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .describe('Where an event stream goes on: after the event of this id, or the entry of this number.'),
})
const params = { agentName }

/** Agents and their deployments. */
export function agentRoutes(agents: AgentService): readonly Route[] {
  const tag = 'Agents'
  return [
    route({
      method: 'POST',
      path: '/v1/agents',
      operationId: 'createAgent',
      tag,
      summary: 'Makes an agent and its first deployment. It is rolled out while you go on.',
      body: createAgentRequest,
      answers: { 200: agentDetails },
      errors: [
        'CONFLICT',
        'DEPLOY-BUILD-NOT-FOUND',
        'DEPLOY-BUILD-NOT-SUCCESSFUL',
        'DEPLOY-REGION-MISMATCH',
        'DEPLOY-SECRET-NOT-FOUND',
        'DEPLOY-IMAGE-NOT-FOUND',
        'DEPLOY-AT-CAPACITY',
      ],
      handle: async ({ organizationId, body }) => ({
        status: 200,
        body: await agents.create(organizationId, body),
      }),
    }),
    route({
      method: 'GET',
      path: '/v1/agents',
      operationId: 'listAgents',
      tag,
      summary: 'Lists agents by name.',
      query: listQuery,
      answers: { 200: agentListResponse },
      handle: async ({ organizationId, query: { region, includeActiveDeployment } }) => ({
        status: 200,
        body: {
          services: await agents.list(organizationId, {
            region,
            includeActiveDeployment: includeActiveDeployment === 'true',
          }),
        },
      }),
    }),
    route({
      method: 'GET',
      path: '/v1/agents/{agentName}',
      operationId: 'getAgent',
      tag,
      summary: 'Gives an agent with its newest deployment and its instances.',
      params,
      answers: { 200: agentDetails },
      errors: ['NOT_FOUND'],
      handle: async ({ organizationId, params: { agentName: name } }) => ({
        status: 200,
        body: await agents.get(organizationId, name),
      }),
    }),
    route({
      method: 'POST',
      path: '/v1/agents/{agentName}',
      operationId: 'updateAgent',
      tag,
      summary: 'Changes an agent. What is more than its scaling makes a new deployment.',
      params,
      body: updateAgentRequest,
      answers: { 200: agentDetails },
      errors: [
        'NOT_FOUND',
        'DEPLOY-BUILD-NOT-FOUND',
        'DEPLOY-BUILD-NOT-SUCCESSFUL',
        'DEPLOY-REGION-MISMATCH',
        'DEPLOY-SECRET-NOT-FOUND',
        'DEPLOY-IMAGE-NOT-FOUND',
      ],
      handle: async ({ organizationId, params: { agentName: name }, body }) => ({
        status: 200,
        body: await agents.update(organizationId, name, body),
      }),
    }),
    route({
      method: 'DELETE',
      path: '/v1/agents/{agentName}',
      operationId: 'deleteAgent',
      tag,
      summary: 'Removes an agent. New sessions are refused; running ones go on.',
      params,
      answers: { 200: okResponse },
      errors: ['NOT_FOUND'],
      handle: async ({ organizationId, params: { agentName: name } }) => {
        await agents.remove(organizationId, name)
        return { status: 200, body: { status: 'OK' } }
      },
    }),
    route({
      method: 'GET',
      path: '/v1/agents/{agentName}/deployments',
      operationId: 'listDeployments',
      tag,
      summary: 'Lists the deployments of an agent, newest first.',
      params,
      query: deploymentsQuery,
      answers: { 200: deploymentListResponse },
      errors: ['NOT_FOUND'],
      handle: async ({ organizationId, params: { agentName: name }, query }) => ({
        status: 200,
        body: await agents.deployments(organizationId, name, query),
      }),
    }),
    route({
      method: 'POST',
      path: '/v1/agents/{agentName}/rollback',
      operationId: 'rollbackAgent',
      tag,
      summary: 'Runs again what an earlier deployment ran, without a rebuild, as a new deployment.',
      params,
      body: rollbackRequest,
      answers: { 200: agentDetails },
      errors: ['NOT_FOUND', 'CONFLICT', 'DEPLOY-SECRET-NOT-FOUND', 'DEPLOY-IMAGE-NOT-FOUND'],
      handle: async ({ organizationId, params: { agentName: name }, body }) => ({
        status: 200,
        body: await agents.rollback(organizationId, name, body),
      }),
    }),
    route({
      method: 'POST',
      path: '/v1/agents/{agentName}/promote',
      operationId: 'promoteAgent',
      tag,
      summary:
        'Runs what another agent runs, without a rebuild, as a new deployment; secrets and scaling stay.',
      params,
      body: promoteRequest,
      answers: { 200: agentDetails },
      errors: ['NOT_FOUND', 'DEPLOY-NOT-READY', 'DEPLOY-REGION-MISMATCH', 'DEPLOY-IMAGE-NOT-FOUND'],
      handle: async ({ organizationId, params: { agentName: name }, body }) => ({
        status: 200,
        body: await agents.promote(organizationId, name, body),
      }),
    }),
    route({
      method: 'GET',
      path: '/v1/agents/{agentName}/logs',
      operationId: 'getAgentLogs',
      tag,
      summary: 'Gives entries of the log of an agent: its builds, starts and runs, in one order.',
      params,
      query: agentLogsQuery,
      headers: logsHeaders,
      answers: { 200: agentLogsResponse },
      errors: ['NOT_FOUND', 'RATE_LIMITED'],
      otherTypes: ['text/event-stream', 'text/plain'],
    }),
  ]
}
