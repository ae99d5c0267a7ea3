import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { baseUrl } from './http.ts'
import { RemoteError, reasonOf } from './remote-error.ts'

/** Variables, some of which may not be set. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A cloud and a key for it. */
export interface Credentials {
  readonly url: string
  readonly key: string
  /** The key with which sessions are started there, if one is known. */
  readonly publicKey?: string
}

/** Where `botcli cloud` listens. */
export const DEFAULT_CLOUD_URL = 'http://localhost:7870'

/** Variables that win over what is stored. */
export const CREDENTIAL_VARIABLES = { url: 'BOTCLI_CLOUD_URL', key: 'BOTCLI_API_KEY' } as const
/** The variable with the key that starts sessions; it wins over what is stored. */
export const PUBLIC_KEY_VARIABLE = 'BOTCLI_PUBLIC_KEY'

/** How long a text is that can be a key. */
const KEY_LENGTH = { min: 8, max: 512 } as const

/** Where the credentials of a user are stored. */
export function credentialsFile(env: Environment): string {
  const { XDG_CONFIG_HOME: config, HOME: home } = env
  const folder = config && isAbsolute(config) ? config : join(home || homedir(), '.config')
  return join(folder, 'botcli', 'credentials.json')
}

/** The credentials that hold: variables first, then what is stored. Throws a RemoteError where there are none. */
export async function readCredentials(env: Environment = process.env): Promise<Credentials> {
  const url = env[CREDENTIAL_VARIABLES.url] || undefined
  const key = env[CREDENTIAL_VARIABLES.key] || undefined
  if (url !== undefined && !isWebUrl(url)) {
    throw invalid(`${CREDENTIAL_VARIABLES.url} must be an address such as ${DEFAULT_CLOUD_URL}.`)
  }
  if (key !== undefined && key.length < KEY_LENGTH.min) {
    throw invalid(`${CREDENTIAL_VARIABLES.key} is too short for a key: it has ${key.length} characters.`)
  }
  if (key !== undefined && !isKey(key)) {
    throw invalid(
      `${CREDENTIAL_VARIABLES.key} must be a private key (sk_…), whole and without spaces or line breaks.`,
    )
  }
  if (url !== undefined && key !== undefined) return { url: baseUrl(url), key }
  const stored = await readStoredCredentials(env)
  if (stored === undefined) {
    if (key !== undefined) return { url: DEFAULT_CLOUD_URL, key }
    const missing = url === undefined ? '' : `, and ${CREDENTIAL_VARIABLES.key} is not set`
    throw RemoteError.local('NOT_SIGNED_IN', `You are not signed in to a cloud${missing}. Run: botcli login`)
  }
  // A key is for the cloud that it was stored with, and is shown to no other one.
  if (url !== undefined && baseUrl(url) !== stored.url) {
    const { url: name, key: other } = CREDENTIAL_VARIABLES
    throw RemoteError.local(
      'NOT_SIGNED_IN',
      `${name} is ${baseUrl(url)}, but you are signed in to ${stored.url}. Set ${other} too, or run: botcli login ${baseUrl(url)}`,
    )
  }
  return { ...stored, key: key ?? stored.key }
}

/** What is stored, or nothing if nobody has signed in. */
export async function readStoredCredentials(
  env: Environment = process.env,
): Promise<Credentials | undefined> {
  const file = credentialsFile(env)
  let text: string
  try {
    const { mode } = await stat(file)
    if ((mode & 0o077) !== 0) {
      throw invalid(`${file} holds a key, and others can read it. Run: chmod 600 ${JSON.stringify(file)}`)
    }
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof RemoteError) throw error
    const reason = reasonOf(error)
    if (reason === 'ENOENT' || reason === 'ENOTDIR') return undefined
    throw invalid(`${file} cannot be read (${reason}).`)
  }
  const found = parse(text)
  if (found === undefined)
    throw invalid(`${file} is not what "botcli login" writes. Sign in again: botcli login`)
  return { ...found, url: baseUrl(found.url) }
}

/** Stores credentials, for the user's eyes only and never by halves. Gives the file. */
export async function writeCredentials(
  { url, key, publicKey }: Credentials,
  env: Environment = process.env,
): Promise<string> {
  const file = credentialsFile(env)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomUUID()}`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify({ url: baseUrl(url), key, publicKey }, null, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    // A mask of the user's may have taken rights away.
    await chmod(draft, 0o600)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  return file
}

/** Removes what is stored, and tells whether there was anything. */
export async function removeCredentials(env: Environment = process.env): Promise<boolean> {
  try {
    await rm(credentialsFile(env))
    return true
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === 'ENOENT' || reason === 'ENOTDIR') return false
    throw error
  }
}

/** Whether a text is the address of a cloud. */
export function isWebUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === ''
  )
}

/** Whether a text can be a key at all. */
export function isKey(text: string): boolean {
  const { min, max } = KEY_LENGTH
  return text.length >= min && text.length <= max && /^[\x21-\x7e]+$/.test(text)
}

function parse(text: string): Credentials | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('url' in value) || !('key' in value))
      return undefined
    const { url, key } = value
    const isRight = typeof url === 'string' && typeof key === 'string' && isWebUrl(url) && isKey(key)
    if (!isRight) return undefined
    const publicKey = 'publicKey' in value ? value.publicKey : undefined
    return { url, key, ...(typeof publicKey === 'string' && isKey(publicKey) && { publicKey }) }
  } catch {
    return undefined
  }
}

function invalid(message: string): RemoteError {
  return RemoteError.local('CREDENTIALS_INVALID', message)
}
