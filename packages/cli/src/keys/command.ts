import { groupCommand } from '../remote/group.ts'
import { createAction, listAction, revokeAction } from './actions.ts'

/** `botcli keys COMMAND`. */
export const keysCommand = groupCommand({
  name: 'keys',
  summary: 'Manage the keys of a cloud',
  about: 'A key is shown once, when it is made.',
  actions: [listAction, createAction, revokeAction],
})
