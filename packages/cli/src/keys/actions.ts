import { KEY_PREFIXES, type KeyRecord } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { ownRecord } from '../login/command.ts'
import { flag } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { readCredentials } from '../remote/credentials.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { shownDate, shownTime, table } from '../remote/table.ts'
import { UsageError } from '../usage-error.ts'

const MAX_NAME = 100

/** `botcli keys list`. */
export const listAction = action({
  name: 'keys list',
  summary: 'List the keys',
  usage: '',
  arguments: { min: 0, max: 0 },
  about: 'The beginning of each key is shown, to know it again by; --json has the ids, too.',
  options: { json: JSON_OPTION },
  async work(_, desk) {
    const { keys } = await (await desk.connect()).listKeys()
    desk.print({ keys })
    const rows = keys.map((key) => [
      key.name,
      key.family,
      `${key.prefix}…`,
      shownDate(key.createdAt),
      shownTime(key.lastUsedAt),
      key.revokedAt === null ? 'valid' : `revoked ${shownDate(key.revokedAt)}`,
    ])
    desk.say(...table(['NAME', 'FAMILY', 'KEY', 'CREATED', 'LAST USED', 'STATE'], rows))
    return EXIT.ok
  },
})

/** `botcli keys create NAME`. */
export const createAction = action({
  name: 'keys create',
  summary: 'Make a key and show it, this once',
  usage: 'NAME',
  arguments: { min: 1, max: 1 },
  about: 'NAME says whose it is or what it is for. The key alone is on stdout, so that a script can take it.',
  options: {
    isPublic: flag({
      name: 'public',
      help: `Make a public key (${KEY_PREFIXES.public}…), which only starts sessions, instead of a private one (${KEY_PREFIXES.private}…).`,
    }),
    json: JSON_OPTION,
  },
  async work({ args: [name = ''], values: { isPublic } }, desk) {
    if (name.trim() === '' || name.length > MAX_NAME) {
      throw new UsageError([`NAME must have 1 to ${MAX_NAME} characters.`])
    }
    const client = await desk.connect()
    const made = await client.createKey({ name, family: isPublic ? 'public' : 'private' })
    desk.print(made)
    desk.say(made.key)
    if (!desk.json)
      desk.note(`This is the ${made.record.family} key "${made.record.name}". It is not shown again.`)
    return EXIT.ok
  },
})

/** `botcli keys revoke ID`. */
export const revokeAction = action({
  name: 'keys revoke',
  summary: 'End a key at once',
  usage: 'ID',
  arguments: { min: 1, max: 1 },
  about: 'ID is the id of a key, its name, or its beginning, as far as it means one key only.',
  options: { json: JSON_OPTION },
  async work({ args: [text = ''] }, desk) {
    const client = await desk.connect()
    const { keys } = await client.listKeys()
    const record = findKey(text, keys)
    await client.revokeKey(record.id)
    desk.say(`Revoked the ${record.family} key "${record.name}" (${record.prefix}…).`)
    const { id, name, family, prefix } = record
    desk.print({ revoked: { id, name, family, prefix } })
    const { key } = await readCredentials(desk.io.env)
    if (ownRecord(key, [record]))
      desk.note(`It was the key that you are signed in with. Sign in again: botcli login ${client.url}`)
    return EXIT.ok
  },
})

/** The one valid key that is meant. */
function findKey(text: string, keys: readonly KeyRecord[]): KeyRecord {
  const valid = keys.filter(({ revokedAt }) => revokedAt === null)
  const byId = valid.filter(({ id }) => id === text)
  const found =
    byId.length > 0
      ? byId
      : valid.filter(({ name, prefix }) => name === text || prefix === text.replace(/…$/, ''))
  const [first, second] = found
  if (first !== undefined && second === undefined) return first
  const what = `has the id, name or beginning ${JSON.stringify(text)}. See "botcli keys list".`
  if (first === undefined) throw RemoteError.local('NOT_FOUND', `No valid key ${what}`)
  throw new UsageError([`More than one key ${what}`])
}
