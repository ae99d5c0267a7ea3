import { groupCommand } from '../remote/group.ts'
import { getAction, listAction } from './list.ts'
import { logsAction } from './logs.ts'
import { startAction } from './start.ts'
import { stopAction } from './stop.ts'

/** `botcli session COMMAND`. */
export const sessionCommand = groupCommand({
  name: 'session',
  summary: 'Start, see and end sessions with agents',
  about: 'A session is one caller with one bot. "botcli agent list" shows the agents.',
  actions: [startAction, listAction, getAction, logsAction, stopAction],
})
