import { KEY_PREFIXES, type KeyRecord } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { optional, ValueError } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import { CloudClient } from '../remote/cloud-client.ts'
import {
  CREDENTIAL_VARIABLES,
  DEFAULT_CLOUD_URL,
  type Environment,
  isKey,
  isWebUrl,
  readStoredCredentials,
  writeCredentials,
} from '../remote/credentials.ts'
import type { Desk } from '../remote/desk.ts'
import { baseUrl } from '../remote/http.ts'
import { canAsk, obtainHidden, readInput } from '../remote/input.ts'
import { UsageError } from '../usage-error.ts'

/** `botcli login [URL]`. */
export const loginCommand = action({
  name: 'login',
  summary: 'Sign in to a cloud',
  usage: '[URL]',
  arguments: { min: 0, max: 1 },
  about: `URL is the address of a cloud; by default ${DEFAULT_CLOUD_URL}, where "botcli cloud" listens. The key is a private one
(${KEY_PREFIXES.private}…). Without --key it is asked for, and does not show; where there is no terminal it is read from
stdin. It is tried out, then stored for you alone. The variables ${CREDENTIAL_VARIABLES.url} and ${CREDENTIAL_VARIABLES.key}
win over what is stored.`,
  options: {
    key: optional({
      name: 'key',
      argument: 'KEY',
      help: 'The key, or - to read it from stdin. Others on this machine can see a command line.',
      parse: parseKey,
    }),
    json: JSON_OPTION,
  },
  async work({ args: [typed = DEFAULT_CLOUD_URL], values: { key: given } }, desk) {
    const url = readUrl(typed)
    const key = given === undefined || given === '-' ? await obtainKey(given, url, desk) : given
    checkFamily(key)
    const client = new CloudClient({ url, key, signal: desk.signal })
    const { keys } = await client.listKeys()
    const record = ownRecord(key, keys)
    const publicKey = await keptPublicKey(client.url, keys, desk.io.env)
    const file = await writeCredentials({ url, key, ...(publicKey && { publicKey }) }, desk.io.env)
    const name = record === undefined ? '' : ` with the key "${record.name}" (${record.prefix}…)`
    desk.say(`Signed in to ${client.url}${name}.`, `Stored in ${file}, for you alone.`)
    desk.print({ url: client.url, key: record ?? null, file })
    if (isOpenToAll(url))
      desk.note(`${client.url} is not encrypted: whoever is on the way can read the key. Use https://.`)
    for (const variable of Object.values(CREDENTIAL_VARIABLES)) {
      if (desk.io.env[variable]) desk.note(`${variable} is set, and wins over what was stored.`)
    }
    return EXIT.ok
  },
})

/** The stored public key, if it is one of these. What was stored before need not be readable for that. */
async function keptPublicKey(
  url: string,
  keys: readonly KeyRecord[],
  env: Environment,
): Promise<string | undefined> {
  const stored = await readStoredCredentials(env).catch(() => undefined)
  const publicKey = stored?.url === url ? stored.publicKey : undefined
  return publicKey && ownRecord(publicKey, keys) ? publicKey : undefined
}

/** Which of the listed keys this is. */
export function ownRecord(key: string, keys: readonly KeyRecord[]): KeyRecord | undefined {
  return keys.find(({ prefix, revokedAt }) => prefix !== '' && key.startsWith(prefix) && revokedAt === null)
}

async function obtainKey(given: string | undefined, url: string, desk: Desk): Promise<string> {
  const { io, signal } = desk
  if (given === undefined && canAsk(io)) return readKey(await obtainHidden(`Private key for ${url}`, desk))
  return readKey(await readInput(io, signal))
}

function readKey(text: string): string {
  const key = text.trim()
  if (isKey(key)) return key
  throw new UsageError([
    key === ''
      ? 'No key was given. "botcli cloud" shows one at its first start.'
      : 'That is no private key: one begins with sk_, has at least 8 characters, and no spaces.',
  ])
}

function parseKey(text: string): string {
  if (text === '-' || isKey(text)) return text
  throw new ValueError('must be a private key (sk_…), or - for stdin.')
}

function checkFamily(key: string): void {
  if (!key.startsWith(KEY_PREFIXES.public)) return
  throw new UsageError([
    `That is a public key (${KEY_PREFIXES.public}…), which only starts sessions. Sign in with a private one (${KEY_PREFIXES.private}…).`,
  ])
}

function readUrl(text: string): string {
  const full = text.includes('://')
    ? text
    : `http${isLocal(text.split(/[:/]/)[0] ?? '') ? '' : 's'}://${text}`
  if (isWebUrl(full)) return baseUrl(full)
  throw new UsageError([
    `URL must be the address of a cloud such as ${DEFAULT_CLOUD_URL}, not ${JSON.stringify(text)}.`,
  ])
}

function isOpenToAll(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isLocal(hostname)
}

function isLocal(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\]|.*\.localhost)$/.test(hostname)
}
