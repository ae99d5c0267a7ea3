import { DEPLOYMENT_LIST_LIMIT } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { valued } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { shownTime, table } from '../remote/table.ts'
import { wholeNumber } from '../run/values.ts'
import { readAgentName } from './agent-name.ts'
import { shownArtifact, shownPhase } from './report.ts'

const HEAD = ['NUMBER', 'ID', 'PHASE', 'REASON', 'RUNS', 'FAILURE', 'CREATED']

/** `botcli agent deployments NAME`. */
export const deploymentsAction = action({
  name: 'agent deployments',
  summary: 'List what was deployed, the newest first',
  usage: 'NAME',
  arguments: { min: 1, max: 1 },
  about: '"botcli agent rollback NAME NUMBER" goes back to one of them.',
  options: {
    limit: valued({
      name: 'limit',
      short: 'n',
      argument: 'N',
      default: String(DEPLOYMENT_LIST_LIMIT.default),
      help: `How many, at most ${DEPLOYMENT_LIST_LIMIT.max}.`,
      parse: wholeNumber(DEPLOYMENT_LIST_LIMIT.min, DEPLOYMENT_LIST_LIMIT.max),
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
  async work({ args: [text], values: { limit, offset } }, desk) {
    const name = readAgentName(text)
    const client = await desk.connect()
    const found = await client.agents.deployments(name, { limit, offset })
    desk.print(found)
    const rows = found.deployments.map((one) => [
      String(one.number),
      one.id,
      shownPhase(one.phase, desk.paint),
      one.reason,
      shownArtifact(one),
      one.failure?.code ?? '-',
      shownTime(one.createdAt),
    ])
    const hasFailed = found.deployments.some(({ failure }) => failure !== null)
    desk.say(...table(HEAD, rows, { unlessSame: hasFailed ? [] : ['FAILURE'] }))
    const rest = found.total - offset - rows.length
    if (rest > 0 && !desk.json) desk.note(`(${rest} more: --offset ${offset + rows.length})`)
    return EXIT.ok
  },
})
