import { groupCommand } from '../remote/group.ts'
import { deleteAction } from './delete.ts'
import { deploymentsAction } from './deployments.ts'
import { getAction, listAction } from './list.ts'
import { logsAction } from './logs.ts'
import { promoteAction, rollbackAction } from './rollback.ts'
import { scaleAction } from './scale.ts'

/** `botcli agent COMMAND`. */
export const agentCommand = groupCommand({
  name: 'agent',
  summary: 'See and change the bots that run in a cloud',
  about: '"botcli deploy" makes an agent; "botcli session" starts sessions with it.',
  actions: [
    listAction,
    getAction,
    logsAction,
    deploymentsAction,
    rollbackAction,
    promoteAction,
    scaleAction,
    deleteAction,
  ],
})
