import { KEY_PREFIXES } from '@botcli/protocol/cloud'
import { ValueError } from '../options/option.ts'
import type { CloudClient } from './cloud-client.ts'
import {
  CREDENTIAL_VARIABLES,
  type Credentials,
  type Environment,
  isKey,
  PUBLIC_KEY_VARIABLE,
  readStoredCredentials,
  writeCredentials,
} from './credentials.ts'
import { orNearest } from './nearest-agent.ts'
import { PublicClient } from './public-client.ts'
import { RemoteError } from './remote-error.ts'

/** How a key is called that was made because none was known. */
const KEY_NAME = 'botcli'

/** Who wants to start sessions, and where. */
export interface PublicKeyWish {
  readonly client: CloudClient
  readonly env: Environment
  /** With whom. */
  readonly agent: string
  /** From the command line. */
  readonly given: string | undefined
  readonly signal: AbortSignal
  /** Hears what was done on the way. */
  tell(text: string): void
}

/** The key on a command line. */
export function parsePublicKey(text: string): string {
  if (isPublicKey(text)) return text
  throw new ValueError(`must be a public key (${KEY_PREFIXES.public}…).`)
}

/**
 * Does something with a public key: the given one, that of the variable, the stored one, or else a new one, which is stored. A stored one that
 * is no good any more is replaced.
 */
export function withPublicKey<T>(
  wish: PublicKeyWish,
  work: (client: PublicClient, key: string) => Promise<T>,
): Promise<T> {
  return orNearest(wish.client, wish.agent, () => workWithKey(wish, work))
}

async function workWithKey<T>(
  wish: PublicKeyWish,
  work: (client: PublicClient, key: string) => Promise<T>,
): Promise<T> {
  const { client, env, given, signal } = wish
  const run = (key: string) => work(new PublicClient({ url: client.url, key, signal }), key)
  const fixed = given ?? fromVariable(env)
  if (fixed !== undefined)
    return run(fixed).catch(notOfSignIn(given === undefined ? PUBLIC_KEY_VARIABLE : '--key'))
  const kept = (await ownCredentials(wish))?.publicKey
  if (kept === undefined) return run(await makeKey(wish))
  try {
    return await run(kept)
  } catch (error) {
    if (!(error instanceof RemoteError) || error.status !== 401) throw error
    return await run(await makeKey(wish))
  }
}

/** To sign in again would not help when it is this key that is no good. */
function notOfSignIn(place: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof RemoteError) || error.status !== 401) throw error
    throw RemoteError.local(
      'CREDENTIALS_INVALID',
      `The cloud does not take the public key of ${place}: it is unknown or revoked. Make another: botcli keys create --public NAME`,
      { cause: error },
    )
  }
}

/** Makes a key and stores it. Where it cannot be stored none is made: there would be one more with every call. */
async function makeKey(wish: PublicKeyWish): Promise<string> {
  const { client, env, agent, tell } = wish
  const stored = await ownCredentials(wish)
  if (stored === undefined) {
    const { key } = CREDENTIAL_VARIABLES
    throw RemoteError.local(
      'NOT_SIGNED_IN',
      `Sessions are started with a public key, and none is known${env[key] ? ` beside ${key}` : ''}. Make one with "botcli keys create --public NAME" and set ${PUBLIC_KEY_VARIABLE}, or give it with --key.`,
    )
  }
  // For a name that is not there no key is made.
  await client.agents.get(agent)
  const made = await client.createKey({ name: KEY_NAME, family: 'public' })
  const file = await writeCredentials({ ...stored, publicKey: made.key }, env)
  tell(`Made the public key "${made.record.name}" (${made.record.prefix}…), stored in ${file}.`)
  return made.key
}

/** What is stored, if it is for this cloud. With another private key it may be another organization, whose agents are not these. */
async function ownCredentials({ client, env }: PublicKeyWish): Promise<Credentials | undefined> {
  const stored = await readStoredCredentials(env)
  const key = env[CREDENTIAL_VARIABLES.key]
  return stored?.url === client.url && (!key || key === stored.key) ? stored : undefined
}

function fromVariable(env: Environment): string | undefined {
  const key = env[PUBLIC_KEY_VARIABLE] || undefined
  if (key === undefined || isPublicKey(key)) return key
  throw RemoteError.local(
    'CREDENTIALS_INVALID',
    `${PUBLIC_KEY_VARIABLE} must be a public key (${KEY_PREFIXES.public}…), without spaces or line breaks.`,
  )
}

function isPublicKey(text: string): boolean {
  return isKey(text) && text.startsWith(KEY_PREFIXES.public)
}
