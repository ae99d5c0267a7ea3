import { readAgentName } from '../agent/agent-name.ts'
import { EXIT } from '../exit-codes.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { outcomeLine } from './report.ts'
import { findSessionId, readSessionId } from './session-id.ts'

/** `botcli session stop AGENT ID`. */
export const stopAction = action({
  name: 'session stop',
  summary: 'End a session at once',
  usage: 'AGENT ID',
  arguments: { min: 2, max: 2 },
  about: 'Its caller is told, or hung up on. Of the ID, the beginning is enough.',
  options: { json: JSON_OPTION },
  async work({ args: [text, id = ''] }, desk) {
    const agent = readAgentName(text, 'AGENT')
    const asked = readSessionId(id, agent)
    const client = await desk.connect()
    const stopped = await client.agents.stopSession(agent, await findSessionId(client, agent, asked))
    desk.print(stopped)
    desk.say(outcomeLine(stopped.session, desk.paint))
    return EXIT.ok
  },
})
