import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { INSTANCE_VARIABLE } from '@botcli/protocol'
import type { RoomConfig, TelephonyConfig, WhatsappConfig } from '@botcli/runner'
import { ValueError } from '../options/option.ts'
import { UsageError } from '../usage-error.ts'
import { parseOrigins } from './values.ts'

const ED25519_BYTES = 32

/** Variables, all of which have a value. */
export type Environment = Readonly<Record<string, string>>

/** What `--whatsapp` cannot do without. */
export const WHATSAPP_VARIABLES = [
  'WHATSAPP_APP_SECRET',
  'WHATSAPP_PHONE_NUMBER_ID',
  'WHATSAPP_TOKEN',
  'WHATSAPP_WEBHOOK_VERIFICATION_TOKEN',
] as const

/** The real environment over the `.env` in the bot's folder. */
export async function readEnvironment(
  botFolder: string,
  real: Readonly<Record<string, string | undefined>>,
): Promise<Environment> {
  const merged = { ...(await readEnvFile(join(botFolder, '.env'))), ...real }
  return Object.fromEntries(
    Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** What an instance of the cloud gives to its bot: the real environment, in which nothing says that this is a developer's machine. */
export function cloudEnvironment(real: Readonly<Record<string, string | undefined>>): Environment {
  return Object.fromEntries(
    Object.entries(real).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        entry[0] !== INSTANCE_VARIABLE &&
        !(entry[0] === 'ENV' && entry[1] === 'local'),
    ),
  )
}

async function readEnvFile(path: string): Promise<Readonly<Record<string, string | undefined>>> {
  try {
    const text = await readFile(path, 'utf8')
    return parseEnv(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT') return {}
    throw new UsageError([`${path} cannot be read (${String(code)}). Make it a readable file or remove it.`])
  }
}

/** What the runner takes from variables. */
export interface EnvironmentValues {
  readonly allowedOrigins: readonly string[]
  readonly room: RoomConfig
  readonly telephony: TelephonyConfig
  /** There when nothing of it is missing. */
  readonly whatsapp: WhatsappConfig | undefined
  readonly problems: readonly string[]
}

/** Checks the variables of the runner. A variable that is set to nothing counts as not set. */
export function checkEnvironment(env: Environment): EnvironmentValues {
  const problems: string[] = []
  const read = <T>(name: string, parse: (text: string) => T): T | undefined => {
    const text = env[name]
    if (text === undefined || text === '') return undefined
    try {
      return parse(text)
    } catch (error) {
      if (!(error instanceof ValueError)) throw error
      problems.push(`${name} ${error.message}`)
      return undefined
    }
  }
  const allowedOrigins = read('BOT_ALLOWED_ORIGINS', parseOrigins) ?? []
  const apiKey = read('ROOM_API_KEY', parseSecret)
  const sampleRoomUrl = read('ROOM_SAMPLE_ROOM_URL', parseWebUrl)
  const apiUrl = read('ROOM_API_URL', parseWebUrl)
  const dialinSecret = read('ROOM_DIALIN_SECRET', parseBase64)
  const accountId = read('TELEPHONY_A_ACCOUNT_ID', parseSecret)
  const authTokenA = read('TELEPHONY_A_AUTH_TOKEN', parseSecret)
  const keyB = read('TELEPHONY_B_API_KEY', parseSecret)
  const publicKeyB = read('TELEPHONY_B_PUBLIC_KEY', parsePublicKey)
  const authId = read('TELEPHONY_C_AUTH_ID', parseSecret)
  const authTokenC = read('TELEPHONY_C_AUTH_TOKEN', parseSecret)
  const urlA = read('TELEPHONY_A_API_URL', parseWebUrl)
  const urlB = read('TELEPHONY_B_API_URL', parseWebUrl)
  const urlC = read('TELEPHONY_C_API_URL', parseWebUrl)
  const appSecret = read('WHATSAPP_APP_SECRET', parseSecret)
  const phoneNumberId = read('WHATSAPP_PHONE_NUMBER_ID', parseSecret)
  const token = read('WHATSAPP_TOKEN', parseSecret)
  const verificationToken = read('WHATSAPP_WEBHOOK_VERIFICATION_TOKEN', parseSecret)
  const whatsappUrl = read('WHATSAPP_API_URL', parseWebUrl)
  return {
    allowedOrigins,
    room: {
      ...(apiKey && { apiKey }),
      ...(sampleRoomUrl && { sampleRoomUrl }),
      ...(apiUrl && { apiUrl }),
      ...(dialinSecret && { dialinSecret }),
    },
    telephony: {
      ...(accountId && authTokenA && { a: { accountId, authToken: authTokenA } }),
      ...(keyB && { b: { apiKey: keyB } }),
      ...(authId && authTokenC && { c: { authId, authToken: authTokenC } }),
      webhookSecrets: {
        ...(authTokenA && { a: { authToken: authTokenA } }),
        ...(publicKeyB && { b: { publicKey: publicKeyB } }),
        ...(authTokenC && { c: { authToken: authTokenC } }),
      },
      apiUrls: { ...(urlA && { a: urlA }), ...(urlB && { b: urlB }), ...(urlC && { c: urlC }) },
    },
    whatsapp:
      appSecret && phoneNumberId && token && verificationToken
        ? { appSecret, phoneNumberId, token, verificationToken, ...(whatsappUrl && { apiUrl: whatsappUrl }) }
        : undefined,
    problems,
  }
}

/** Messages never repeat a secret. */
function parseSecret(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text
  throw new ValueError('must have no spaces, line breaks or other characters that a key cannot have.')
}

function parseBase64(text: string): string {
  if (/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return text
  throw new ValueError('must be base64, as the provider shows it.')
}

function parsePublicKey(text: string): string {
  if (Buffer.from(parseBase64(text), 'base64').length === ED25519_BYTES) return text
  throw new ValueError("must be an Ed25519 key in base64: the public key in the provider's portal.")
}

function parseWebUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return text
  throw new ValueError(
    `must be an address that begins with https:// or http://, not ${JSON.stringify(text)}.`,
  )
}
