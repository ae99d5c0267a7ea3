import { EXIT } from '../exit-codes.ts'
import { optional } from '../options/option.ts'
import { action } from '../remote/action.ts'
import { notEmpty } from '../remote/values.ts'
import { findSessionId, readSessionId } from '../session/session-id.ts'
import { readAgentName } from './agent-name.ts'
import { findDeployment, readDeployment } from './deployment-id.ts'
import { LOG_JSON, LOG_OPTIONS, SOURCE_OPTION } from './log-options.ts'
import { followLog, showLog } from './log-reading.ts'

/** `botcli agent logs NAME`. */
export const logsAction = action({
  name: 'agent logs',
  summary: 'Show the log of an agent: of all its instances and sessions',
  usage: 'NAME',
  arguments: { min: 1, max: 1 },
  about: `The newest entries are shown, the oldest of them first: time (UTC), level, session, text. With -f, a
connection that breaks is made again, and each entry comes once. It goes on until Ctrl-C is pressed, or
the agent was removed and its last call is over.`,
  options: {
    ...LOG_OPTIONS,
    session: optional({
      name: 'session',
      argument: 'ID',
      help: 'Only what is of this session; the beginning of its id is enough.',
      parse: notEmpty,
    }),
    deployment: optional({
      name: 'deployment',
      argument: 'N',
      help: 'Only what is of this deployment: its number, or the beginning of its id.',
      parse: notEmpty,
    }),
    source: SOURCE_OPTION,
    json: LOG_JSON,
  },
  async work({ args: [text], values }, desk) {
    const { follow, lines, level, query, since, source } = values
    const agent = readAgentName(text)
    const session = values.session && readSessionId(values.session, agent)
    const deployment = values.deployment && readDeployment(values.deployment, agent)
    const client = await desk.connect()
    const sessionId = session && (await findSessionId(client, agent, session))
    const deploymentId = deployment && (await findDeployment(client, agent, deployment)).id
    const filter = { deploymentId, sessionId, source, level, query, startTime: since, limit: lines }
    const wish = { client, agent, filter, manner: { day: true, session: true } }
    if (!follow) {
      await showLog(wish, desk)
      return EXIT.ok
    }
    try {
      await followLog(wish, desk, AbortSignal.any([desk.signal, desk.gone]))
    } catch (error) {
      if (desk.gone.aborted) return EXIT.failed
      throw error
    }
    return EXIT.ok
  },
})
