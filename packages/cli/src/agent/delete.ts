import { EXIT } from '../exit-codes.ts'
import { flag } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { canAsk, obtainLine } from '../remote/input.ts'
import { UsageError } from '../usage-error.ts'
import { readAgentName } from './agent-name.ts'

/** `botcli agent delete NAME`. */
export const deleteAction = action({
  name: 'agent delete',
  summary: 'Remove an agent with its deployments and its log',
  usage: 'NAME',
  arguments: { min: 1, max: 1 },
  about: `Calls that are going on finish, and then its log goes. Its sessions can still be listed, until they are
old or another agent has the name. Builds and secret sets stay. On a terminal its name is asked for once
more.`,
  options: {
    yes: flag({ name: 'yes', short: 'y', help: 'Do not ask.' }),
    json: JSON_OPTION,
  },
  async work({ args: [text], values: { yes } }, desk) {
    const name = readAgentName(text)
    if (!yes && (desk.json || !canAsk(desk.io))) {
      throw new UsageError([`There is nobody to ask whether ${name} is to be removed: give --yes.`])
    }
    const client = await desk.connect()
    if (!yes) {
      const { activeSessionCount: count } = await client.agents.get(name)
      const sessions =
        count === 0
          ? ''
          : ` ${count === 1 ? 'A session is' : `${count} sessions are`} running and may finish.`
      desk.note(`${name} is removed with its deployments and its log.${sessions}`)
      if ((await obtainLine('Type its name to remove it', desk)).trim() !== name) {
        desk.note('Nothing was removed.')
        return EXIT.failed
      }
    }
    await client.agents.remove(name)
    desk.say(`Removed ${name}.`)
    desk.print({ removed: name })
    return EXIT.ok
  },
})
