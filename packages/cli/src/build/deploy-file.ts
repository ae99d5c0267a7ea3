import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../usage-error.ts'

/** How a deployment file is called. */
export const DEPLOY_FILE = 'deploy.toml'

/** What a deployment file says about builds. */
export interface DeployFile {
  readonly region: string | undefined
  /** Relative to the folder of the file. */
  readonly contextDir: string
  /** Relative to that context. */
  readonly dockerfile: string | undefined
}

/** Reads the deployment file of a folder, or nothing if it has none. */
export async function readDeployFile(folder: string): Promise<DeployFile | undefined> {
  const file = join(folder, DEPLOY_FILE)
  try {
    return parseDeployFile(await readFile(file, 'utf8'), file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (error instanceof UsageError) throw error
    throw new UsageError([`${file} cannot be read (${String(code)}).`])
  }
}

/** Reads the strings that builds need; the rest of the file is for who runs the bot. */
export function parseDeployFile(text: string, name: string): DeployFile {
  const found = new Map<string, string>()
  const problems: string[] = []
  let section = ''
  for (const [index, line] of withoutLongStrings(text).entries()) {
    const [, heading] = /^\s*\[\s*([\w.\s-]+?)\s*\]\s*(?:#.*)?$/.exec(line) ?? []
    if (heading !== undefined) section = heading.replaceAll(/\s/g, '')
    else if (/^\s*\[/.test(line)) section = '?'
    const [, key = '', value = ''] = /^\s*([\w.-]+)\s*=\s*(.*)$/.exec(line) ?? []
    const full = (section === '' ? key : `${section}.${key}`).replaceAll(/\s/g, '')
    if (!['region', 'build', 'build.context_dir', 'build.dockerfile'].includes(full)) continue
    const string = stringOf(value)
    if (string !== undefined && string !== '' && full !== 'build') found.set(full, string)
    else if (full === 'build') problems.push(`${name}, line ${index + 1}: Write it as a section: [build].`)
    else problems.push(`${name}, line ${index + 1}: ${key} must be a string between quotes.`)
  }
  if (problems.length > 0) throw new UsageError(problems)
  return {
    region: found.get('region'),
    contextDir: found.get('build.context_dir') ?? '.',
    dockerfile: found.get('build.dockerfile'),
  }
}

/** The lines of a file, with nothing on those that are inside of a string of several lines. */
function withoutLongStrings(text: string): readonly string[] {
  const blank = (string: string) => `""${string.replaceAll(/[^\n]/g, '')}`
  return text
    .replace(/^\uFEFF/, '')
    .replaceAll(/"""[\s\S]*?"""|'''[\s\S]*?'''/g, blank)
    .split(/\r?\n/)
}

function stringOf(value: string): string | undefined {
  const [, literal] = /^'([^']*)'\s*(?:#.*)?$/.exec(value) ?? []
  if (literal !== undefined) return literal
  const [, basic] = /^("(?:[^"\\]|\\.)*")\s*(?:#.*)?$/.exec(value) ?? []
  if (basic === undefined) return undefined
  try {
    return JSON.parse(basic) as string
  } catch {
    return undefined
  }
}
