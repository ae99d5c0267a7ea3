import { groupCommand } from '../remote/group.ts'
import { cancelAction } from './cancel.ts'
import { createAction } from './create.ts'
import { getAction, listAction } from './list.ts'
import { logsAction } from './logs.ts'
import { removeAction } from './remove.ts'

/** `botcli build COMMAND`. */
export const buildCommand = groupCommand({
  name: 'build',
  summary: 'Build bots in a cloud',
  about: 'They ask the cloud that you are signed in to: botcli login.',
  actions: [createAction, listAction, getAction, logsAction, cancelAction, removeAction],
})
