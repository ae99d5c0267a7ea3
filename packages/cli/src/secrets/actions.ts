import { secretKeyName } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { shownTime, table } from '../remote/table.ts'
import { UsageError } from '../usage-error.ts'
import { readSetName } from './set-name.ts'

const MOST_KEYS = 200

/** `botcli secrets list`. */
export const listAction = action({
  name: 'secrets list',
  summary: 'List the sets',
  usage: '',
  arguments: { min: 0, max: 0 },
  about: '',
  options: { json: JSON_OPTION },
  async work(_, desk) {
    const found = await (await desk.connect()).listSecretSets()
    desk.print(found)
    const rows = found.sets.map(({ name, type, region, status }) => [name, type, region, status])
    if (rows.length === 0) desk.say('There are no sets. Make one: botcli secrets set NAME --file .env')
    else desk.say(...table(['NAME', 'TYPE', 'REGION', 'STATUS'], rows))
    return EXIT.ok
  },
})

/** `botcli secrets get NAME`. */
export const getAction = action({
  name: 'secrets get',
  summary: 'Show the names of the variables in a set',
  usage: 'NAME',
  arguments: { min: 1, max: 1 },
  about: 'Values are never shown.',
  options: { json: JSON_OPTION },
  async work({ args: [name] }, desk) {
    const set = readSetName(name)
    const found = await (await desk.connect()).getSecretSet(set)
    desk.print(found)
    const rows = found.secrets.map(({ fieldName, updatedAt }) => [fieldName, shownTime(updatedAt)])
    desk.say(...(rows.length === 0 ? [`${set} is empty.`] : table(['VARIABLE', 'CHANGED'], rows)))
    return EXIT.ok
  },
})

/** `botcli secrets unset NAME KEY…`. */
export const unsetAction = action({
  name: 'secrets unset',
  summary: 'Remove variables from a set',
  usage: 'NAME KEY…',
  arguments: { min: 2, max: 1 + MOST_KEYS },
  about: 'If the set does not have one of them, nothing is removed.',
  options: { json: JSON_OPTION },
  async work({ args: [name, ...keys] }, desk) {
    const set = readSetName(name)
    const wrong = keys.filter((key) => !secretKeyName.safeParse(key).success)
    if (wrong.length > 0) throw new UsageError([`No names of variables: ${wrong.join(', ')}.`])
    const client = await desk.connect()
    const { secrets } = await client.getSecretSet(set)
    const wanted = [...new Set(keys)]
    const missing = wanted.filter((key) => !secrets.some(({ fieldName }) => fieldName === key))
    if (missing.length > 0) {
      throw RemoteError.local('NOT_FOUND', `${set} has no ${missing.join(', ')}. Nothing was removed.`)
    }
    const removed: string[] = []
    try {
      for (const key of wanted) {
        await client.deleteSecret(set, key)
        removed.push(key)
        desk.say(`Removed ${key} from ${set}.`)
      }
    } catch (error) {
      if (!(error instanceof RemoteError) || removed.length === 0) throw error
      const message = `${error.message} Removed before that: ${removed.join(', ')}.`
      throw new RemoteError(error.code, message, { cause: error })
    }
    desk.print({ set, removed })
    return EXIT.ok
  },
})

/** `botcli secrets delete NAME`. */
export const deleteAction = action({
  name: 'secrets delete',
  summary: 'Remove a set with everything in it',
  usage: 'NAME',
  arguments: { min: 1, max: 1 },
  about: 'Nobody can get the values back.',
  options: { json: JSON_OPTION },
  async work({ args: [name] }, desk) {
    const set = readSetName(name)
    await (await desk.connect()).deleteSecretSet(set)
    desk.say(`Removed ${set}.`)
    desk.print({ removed: set })
    return EXIT.ok
  },
})
