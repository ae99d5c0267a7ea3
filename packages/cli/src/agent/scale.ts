import { AGENT_LIMITS } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { optional } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { orNearest } from '../remote/nearest-agent.ts'
import { wholeNumber } from '../run/values.ts'
import { UsageError } from '../usage-error.ts'
import { readAgentName } from './agent-name.ts'
import { shownScaling } from './report.ts'
import { checkScaling } from './scaling.ts'

const { min: LEAST, max: MOST } = AGENT_LIMITS.agents

/** How many instances wait for sessions. */
export const MIN_OPTION = optional({
  name: 'min',
  argument: 'N',
  help: `Instances that are always there, ${LEAST} to ${MOST}.`,
  parse: wholeNumber(LEAST, MOST),
})

/** How many instances there are at most. */
export const MAX_OPTION = optional({
  name: 'max',
  argument: 'N',
  help: `Instances that there are at most, 1 to ${MOST}.`,
  parse: wholeNumber(1, MOST),
})

/** `botcli agent scale NAME`. */
export const scaleAction = action({
  name: 'agent scale',
  summary: 'Change how many instances there are',
  usage: 'NAME',
  arguments: { min: 1, max: 1 },
  about: `It makes no new deployment, and sessions go on. What is not given stays. A [scaling] section in
deploy.toml holds again with the next "botcli deploy".`,
  options: { min: MIN_OPTION, max: MAX_OPTION, json: JSON_OPTION },
  async work({ args: [text], values: { min, max } }, desk) {
    const name = readAgentName(text)
    if (min === undefined && max === undefined) throw new UsageError(['Give --min, --max, or both.'])
    if (min !== undefined && max !== undefined && min > max) {
      throw new UsageError([`--min must not be more than --max: ${min} is more than ${max}.`])
    }
    const client = await desk.connect()
    const before = await orNearest(client, name, () => client.agents.get(name))
    checkScaling(before, { min, max })
    const autoScaling = {
      ...(min !== undefined && { minAgents: min }),
      ...(max !== undefined && { maxAgents: max }),
    }
    const agent = await client.agents.update(name, { autoScaling })
    desk.print(agent)
    const scaling = shownScaling(agent.autoScaling)
    const isSame = scaling === shownScaling(before.autoScaling)
    desk.say(`The scaling of ${name} is ${scaling} ${isSame ? 'already' : 'now'}.`)
    // Of what is the same already, the answer says that, and how the API would be made to deploy it again.
    const warning = isSame ? before.warning : agent.warning
    if (warning !== undefined && !desk.json) desk.note(warning)
    return EXIT.ok
  },
})
