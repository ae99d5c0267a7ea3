import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Io } from '../io.ts'
import { ValueError } from '../options/option.ts'

/** A folder, which may be made yet. */
export function parseFolder(text: string): string {
  if (text.trim() !== '' && !text.includes('\0')) return text
  throw new ValueError(`must be the path of a folder, not ${JSON.stringify(text)}.`)
}

const MAX_NAME = 100

/** What an organization is called. */
export function parseName(text: string): string {
  const name = text.trim()
  if (name !== '' && name.length <= MAX_NAME && !/\p{Cc}/u.test(name)) return name
  throw new ValueError(`must have 1 to ${MAX_NAME} printable characters, not ${JSON.stringify(text)}.`)
}

/** Where a cloud keeps everything unless it is told otherwise. */
export function defaultDataFolder(env: Io['env']): string {
  const { XDG_DATA_HOME: data, HOME: home } = env
  const folder = data && isAbsolute(data) ? data : join(home || homedir(), '.local', 'share')
  return join(folder, 'botcli', 'cloud')
}
