import { groupCommand } from '../remote/group.ts'
import { deleteAction, getAction, listAction, unsetAction } from './actions.ts'
import { imagePullSecretAction } from './image-pull-secret.ts'
import { setAction } from './set.ts'

/** `botcli secrets COMMAND`. */
export const secretsCommand = groupCommand({
  name: 'secrets',
  summary: 'Keep the keys of bots in a cloud, in sets',
  about: 'Values go into the cloud and never come out again; only their names are shown.',
  actions: [listAction, getAction, setAction, unsetAction, imagePullSecretAction, deleteAction],
})
