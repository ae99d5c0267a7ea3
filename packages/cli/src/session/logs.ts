import { readAgentName } from '../agent/agent-name.ts'
import { LOG_JSON, LOG_OPTIONS } from '../agent/log-options.ts'
import { followLog, showLog } from '../agent/log-reading.ts'
import { EXIT } from '../exit-codes.ts'
import { flag } from '../options/option.ts'
import { action } from '../remote/action.ts'
import { outcomeLine } from './report.ts'
import { findSessionId, readSessionId } from './session-id.ts'

/** `botcli session logs AGENT ID`. */
export const logsAction = action({
  name: 'session logs',
  summary: 'Show the log of a session',
  usage: 'AGENT ID',
  arguments: { min: 2, max: 2 },
  about: `The newest entries are shown, the oldest of them first. With -f, a connection that breaks is made
again, and each entry comes once. Of the ID, the beginning is enough. Ctrl-C leaves the session alone.`,
  exitCodes: `  0    it was shown; with -f: the session ended well
  1    it could not be shown; with -f: the session failed
  2    the command line is wrong
  130  Ctrl-C was pressed; the session goes on`,
  options: {
    ...LOG_OPTIONS,
    follow: flag({
      ...LOG_OPTIONS.follow,
      help: 'Go on until the session is over, and say what became of it.',
    }),
    json: LOG_JSON,
  },
  async work({ args: [text, id = ''], values: { follow, lines, level, query, since } }, desk) {
    const agent = readAgentName(text, 'AGENT')
    const asked = readSessionId(id, agent)
    const client = await desk.connect()
    const sessionId = await findSessionId(client, agent, asked)
    const filter = { sessionId, level, query, startTime: since, limit: lines }
    const wish = { client, agent, filter, manner: { day: true, session: false } }
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
    const session = await client.agents.session(agent, sessionId)
    desk.emit('outcome', { session })
    if (!desk.json) desk.note(outcomeLine(session, desk.notePaint))
    return session.outcome?.result === 'failed' ? EXIT.failed : EXIT.ok
  },
})
