import { DEPLOYMENT_LIST_LIMIT, SESSION_LIST_LIMIT } from '@botcli/protocol/cloud'
import { readAgentName } from '../agent/agent-name.ts'
import { findDeployment, readDeployment } from '../agent/deployment-id.ts'
import { EXIT } from '../exit-codes.ts'
import { optional, valued } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { shownSeconds, shownTime, table } from '../remote/table.ts'
import { notEmpty } from '../remote/values.ts'
import { oneOf, wholeNumber } from '../run/values.ts'
import { sessionLines, shownSessionState } from './report.ts'
import { findSessionId, readSessionId } from './session-id.ts'

const HEAD = ['ID', 'STATE', 'TRANSPORT', 'DEPLOYMENT', 'CREATED', 'DURATION', 'CAUSE']
const STATUSES = ['active', 'ended', 'all'] as const

/** `botcli session list AGENT`. */
export const listAction = action({
  name: 'session list',
  summary: 'List the sessions of an agent, the newest first',
  usage: 'AGENT',
  arguments: { min: 1, max: 1 },
  about: '',
  options: {
    status: valued({
      name: 'status',
      argument: 'STATUS',
      default: 'all',
      help: `Which of them: ${STATUSES.join(', ')}.`,
      parse: oneOf(STATUSES),
    }),
    deployment: optional({
      name: 'deployment',
      argument: 'N',
      help: 'Only those of this deployment: its number, or the beginning of its id.',
      parse: notEmpty,
    }),
    limit: valued({
      name: 'limit',
      short: 'n',
      argument: 'N',
      default: '20',
      help: `How many, at most ${SESSION_LIST_LIMIT.max}.`,
      parse: wholeNumber(SESSION_LIST_LIMIT.min, SESSION_LIST_LIMIT.max),
    }),
    offset: valued({
      name: 'offset',
      argument: 'N',
      default: '0',
      help: 'Leave out so many of the newest.',
      parse: wholeNumber(0, 999_999_999),
    }),
    json: JSON_OPTION,
  },
  async work({ args: [text], values: { status, deployment, limit, offset } }, desk) {
    const agent = readAgentName(text, 'AGENT')
    const wanted = deployment && readDeployment(deployment, agent)
    const client = await desk.connect()
    const deploymentId = wanted && (await findDeployment(client, agent, wanted)).id
    const found = await client.agents.sessions(agent, { status, deploymentId, limit, offset })
    desk.print(found)
    if (desk.json) return EXIT.ok
    const numbers = await numbersOf(client, agent, found.sessions.length)
    const rows = found.sessions.map((session) => [
      session.sessionId,
      shownSessionState(session, desk.paint),
      session.transport,
      numbers.get(session.deploymentId) ?? session.deploymentId.slice(0, 8),
      shownTime(session.createdAt),
      shownSeconds(session.durationSeconds),
      session.outcome?.cause ?? '-',
    ])
    const isNarrowed = status !== 'all' || deployment !== undefined || offset > 0
    if (rows.length === 0 && isNarrowed) desk.say('There are no such sessions.')
    else if (rows.length === 0) {
      desk.say(`${agent} has had no sessions. Start one: botcli session start ${agent} --open`)
    } else desk.say(...table(HEAD, rows))
    const rest = found.total_count - offset - rows.length
    if (rest > 0) desk.note(`(${rest} more: --offset ${offset + rows.length})`)
    return EXIT.ok
  },
})

/** People know deployments by their numbers. Those of an agent that was removed are gone, while its sessions are not. */
async function numbersOf(
  client: CloudClient,
  agent: string,
  sessions: number,
): Promise<ReadonlyMap<string, string>> {
  if (sessions === 0) return new Map()
  try {
    const { deployments } = await client.agents.deployments(agent, { limit: DEPLOYMENT_LIST_LIMIT.max })
    return new Map(deployments.map(({ id, number }) => [id, String(number)]))
  } catch (error) {
    if (error instanceof RemoteError && error.code === 'NOT_FOUND') return new Map()
    throw error
  }
}

/** `botcli session get AGENT ID`. */
export const getAction = action({
  name: 'session get',
  summary: 'Show a session: how it goes, or how it ended',
  usage: 'AGENT ID',
  arguments: { min: 2, max: 2 },
  about: 'Of the ID, the beginning is enough.',
  options: { json: JSON_OPTION },
  async work({ args: [text, id = ''] }, desk) {
    const agent = readAgentName(text, 'AGENT')
    const asked = readSessionId(id, agent)
    const client = await desk.connect()
    const session = await client.agents.session(agent, await findSessionId(client, agent, asked))
    desk.print(session)
    desk.say(...sessionLines(session, desk.paint))
    return EXIT.ok
  },
})
