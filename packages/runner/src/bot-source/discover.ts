import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { RunnerError } from '../errors.ts'
import { definesBot } from './python-scan.ts'

/** The file with the user's entry point, and the folder that everything else is found from. */
export interface BotFile {
  readonly path: string
  readonly folder: string
}

const PYTHON_NAME = 'bot.py'
const JAVASCRIPT_NAMES = ['bot.ts', 'bot.mts', 'bot.js', 'bot.mjs']
const NAMES = [...JAVASCRIPT_NAMES, PYTHON_NAME]
const GIVEN_EXTENSIONS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.py']
const SCANNED = /\.(?:m?[jt]s|py)$/
const NEVER_BOTS = /\.(?:test|spec|config|d)\.[cm]?[jt]s$|^(?:test_.*|.*_test|conftest|setup)\.py$/
const MAX_SCANNED_FILES = 200

/**
 * Finds the bot: the given file, or in the given or current folder and then in its `server/` the file with
 * the usual name, or else the one file that exports `bot`.
 */
export async function findBot(given: string | undefined, cwd: string): Promise<BotFile> {
  const place = resolve(cwd, given ?? '.')
  const kind = await kindOf(place)
  if (kind === 'file') return givenFile(place)
  if (kind === 'nothing') {
    throw new RunnerError('bot_not_found', `There is no file or folder ${place}. Give the path of your bot.`)
  }
  const folders = [place, join(place, 'server')]
  for (const folder of folders) {
    const found = await namedBot(folder)
    if (found) return found
  }
  for (const folder of folders) {
    const found = await exportingBot(folder)
    if (found) return found
  }
  throw new RunnerError(
    'bot_not_found',
    `No bot was found in ${place} or its server/ folder. Looked for ${NAMES.join(', ')}, then for one file that ` +
      `exports "bot". Make a bot.ts with "export async function bot(args) { … }" or a bot.py with "async def bot(args): …", or give the path of your bot.`,
  )
}

/** Whether a bot is written in Python. */
export function isPython(botPath: string): boolean {
  return extname(botPath) === '.py'
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'nothing'> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return 'nothing'
  return found.isDirectory() ? 'folder' : 'file'
}

function givenFile(path: string): BotFile {
  const extension = extname(path)
  if (!GIVEN_EXTENSIONS.includes(extension)) {
    throw new RunnerError(
      'bot_not_supported',
      `${path} is not a bot: its name must end in ${GIVEN_EXTENSIONS.join(', ')}.`,
    )
  }
  return { path, folder: dirname(path) }
}

async function namedBot(folder: string): Promise<BotFile | undefined> {
  const kinds = await Promise.all(NAMES.map((name) => kindOf(join(folder, name))))
  const names = NAMES.filter((_, index) => kinds[index] === 'file')
  const [name] = names
  if (name === undefined) return undefined
  if (names.length > 1 && names.includes(PYTHON_NAME)) {
    throw new RunnerError(
      'bot_ambiguous',
      `${folder} has a Python bot and another one: ${names.join(', ')}. Give the path of the one to run.`,
    )
  }
  return { path: join(folder, name), folder }
}

async function exportingBot(folder: string): Promise<BotFile | undefined> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const paths = entries
    .filter((entry) => entry.isFile() && SCANNED.test(entry.name) && !NEVER_BOTS.test(entry.name))
    .map((entry) => join(folder, entry.name))
    .sort()
  if (paths.length === 0) return undefined
  if (paths.length > MAX_SCANNED_FILES) {
    throw new RunnerError(
      'bot_ambiguous',
      `${folder} has ${paths.length} source files and none is called ${NAMES.join(', ')}. Give the path of your bot.`,
    )
  }
  const scans = await Promise.all(paths.map(scan))
  const found = scans.filter((one) => one.exportsBot)
  const broken = scans.filter((one) => one.problem !== undefined)
  const [first] = found
  if (found.length === 1 && first) return { path: first.path, folder }
  if (found.length > 1) {
    throw new RunnerError(
      'bot_ambiguous',
      `Several files in ${folder} export "bot": ${found.map((one) => basename(one.path)).join(', ')}. Give the path of the one to run.`,
    )
  }
  if (broken.length > 0) {
    throw new RunnerError(
      'bot_not_found',
      `No file in ${folder} exports "bot", but some could not be read as code.`,
      broken.map((one) => one.problem).join('\n'),
    )
  }
  return undefined
}

interface Scan {
  readonly path: string
  readonly exportsBot: boolean
  readonly problem?: string
}

/** Reads one file's top-level exports with a real parser, without following its imports. */
async function scan(path: string): Promise<Scan> {
  if (isPython(path)) return { path, exportsBot: await definesBot(path) }
  const { build } = await import('esbuild')
  try {
    const { metafile } = await build({
      absWorkingDir: dirname(path),
      entryPoints: [path],
      outdir: 'out',
      bundle: false,
      write: false,
      format: 'esm',
      metafile: true,
      logLevel: 'silent',
    })
    const exported = Object.values(metafile.outputs).flatMap((output) => output.exports)
    return { path, exportsBot: exported.includes('bot') }
  } catch (error) {
    return { path, exportsBot: false, problem: error instanceof Error ? error.message : String(error) }
  }
}
