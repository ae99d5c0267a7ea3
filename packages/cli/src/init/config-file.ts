import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type ConfigFile, MAX_CONFIG_BYTES, type Problem } from '@botcli/scaffold'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
}

/** Reads the file that `--config` names, or tells why that cannot be done. */
export async function readConfigFile(cwd: string, path: string): Promise<ConfigFile | Problem> {
  try {
    if (path === '') throw new Error('its name is empty')
    // One byte more than is allowed is enough to tell that it is too long, also of what never ends.
    return { path, text: await text(createReadStream(resolve(cwd, path), { end: MAX_CONFIG_BYTES })) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const why = REASONS[code] ?? (error instanceof Error ? error.message : String(error))
    const message = `The config file ${path === '' ? '""' : path} cannot be read: ${why}.`
    return { field: 'config', flag: '--config', code: 'unreadable', value: path, message }
  }
}
