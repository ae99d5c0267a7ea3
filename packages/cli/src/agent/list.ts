import type { AgentDetails, DeploymentRecord } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { optional } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import { orNearest } from '../remote/nearest-agent.ts'
import { shownTime, table } from '../remote/table.ts'
import { notEmpty } from '../remote/values.ts'
import { readAgentName } from './agent-name.ts'
import { findDeployment } from './deployment-id.ts'
import { agentLines, shownState } from './report.ts'

/** `botcli agent list`. */
export const listAction = action({
  name: 'agent list',
  summary: 'List the agents',
  usage: '',
  arguments: { min: 0, max: 0 },
  about: '',
  options: {
    region: optional({
      name: 'region',
      argument: 'REGION',
      help: 'Only those of this region.',
      parse: notEmpty,
    }),
    json: JSON_OPTION,
  },
  async work({ values: { region } }, desk) {
    const found = await (await desk.connect()).agents.list({ region })
    desk.print(found)
    const rows = found.services.map((agent) => [
      agent.name,
      shownState(agent, desk.paint),
      String(agent.activeSessionCount),
      agent.deployment ? String(agent.deployment.number) : '-',
      agent.region,
      shownTime(agent.updatedAt),
    ])
    if (rows.length === 0 && region !== undefined) desk.say(`There are no agents in ${region}.`)
    else if (rows.length === 0) desk.say('There are no agents. Make one: botcli deploy')
    else {
      const head = ['NAME', 'STATE', 'SESSIONS', 'DEPLOYMENT', 'REGION', 'UPDATED']
      desk.say(...table(head, rows, { unlessSame: ['REGION'] }))
    }
    return EXIT.ok
  },
})

/** `botcli agent get NAME`. */
export const getAction = action({
  name: 'agent get',
  summary: 'Show an agent: its state, what it runs, its instances',
  usage: 'NAME',
  arguments: { min: 1, max: 1 },
  about: '',
  options: { json: JSON_OPTION },
  async work({ args: [text] }, desk) {
    const name = readAgentName(text)
    const client = await desk.connect()
    const agent = await orNearest(client, name, () => client.agents.get(name))
    desk.print(agent)
    if (!desk.json) desk.say(...agentLines(agent, await activeOf(client, agent), desk.paint))
    return EXIT.ok
  },
})

/** The deployment that is active; it is not the newest one while that is rolled out, and when it has failed. */
async function activeOf(client: CloudClient, agent: AgentDetails): Promise<DeploymentRecord | undefined> {
  const { activeDeploymentId: id, deployment, name } = agent
  if (id === null) return undefined
  return id === deployment.id ? deployment : findDeployment(client, name, id)
}
