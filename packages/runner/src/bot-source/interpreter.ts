import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { RunnerError } from '../errors.ts'
import type { Interpreter, Variables } from '../guests/guest-command.ts'

const NEEDED = [3, 11] as const
const PROBE_MS = 15_000
const MAX_DEPTH = 32
/** What marks the folder of a project, where its environment is. */
const PROJECT_FILES = ['pyproject.toml', 'uv.lock']
const NAMES = ['python3', 'python']
const HOW_TO_SET =
  'Make a .venv beside your bot (uv sync, or python3 -m venv .venv), or give one with --python PATH.'

/** Says the version, the real path behind wrappers, and whether the project has our package. */
const PROBE = `
import importlib.util, json, os, sys
spec = importlib.util.find_spec("botcli")
places = spec.submodule_search_locations if spec else None
found = any(os.path.exists(os.path.join(place, "guest", "__main__.py")) or os.path.exists(os.path.join(place, "guest.py")) for place in places or [])
print(json.dumps({"version": list(sys.version_info[:3]), "path": sys.executable, "found": found}))
`

/** Where a Python is looked for. */
export interface InterpreterSearch {
  /** What the user asked for: a path, or a name on the path of programs. */
  readonly given?: string | undefined
  readonly folder: string
  readonly env: Variables
}

interface Probe {
  readonly path: string
  readonly version: readonly number[]
  readonly found: boolean
}

/**
 * Finds the Python of the project: the given one, or that of the `.venv` in the bot's folder or further up in its project,
 * or that of the active environment, or else the one on the path. Rejects when it is missing or too old.
 */
export async function findInterpreter(search: InterpreterSearch): Promise<Interpreter> {
  const chosen = search.given ?? (await projectPython(search.folder)) ?? (await activePython(search.env))
  const tried: string[] = []
  for (const candidate of chosen === undefined ? NAMES : [chosen]) {
    const probe = await ask(candidate, search)
    if (typeof probe === 'string') tried.push(`${candidate} ${probe}`)
    else if (isNewEnough(probe.version)) return { path: probe.path, hasPackage: probe.found }
    else tried.push(`${candidate} is version ${probe.version.join('.')}`)
  }
  throw new RunnerError(
    'start_failed',
    `A Python bot needs Python ${NEEDED.join('.')} or newer, but ${tried.join(', and ')}. ${HOW_TO_SET}`,
  )
}

/** The environment of the project, from the bot's folder up to the one that says where the project begins. */
async function projectPython(botFolder: string): Promise<string | undefined> {
  const own = await existing(join(botFolder, '.venv/bin/python'))
  let found = own
  let folder = botFolder
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    found ??= await existing(join(folder, '.venv/bin/python'))
    const marks = await Promise.all(PROJECT_FILES.map((name) => existing(join(folder, name))))
    if (marks.some((mark) => mark !== undefined)) return found
    const parent = dirname(folder)
    if (parent === folder) break
    folder = parent
  }
  // No project around it, so that an environment further up is somebody else's.
  return own
}

async function activePython({ VIRTUAL_ENV: folder }: Variables): Promise<string | undefined> {
  return folder ? existing(join(folder, 'bin/python')) : undefined
}

async function existing(path: string): Promise<string | undefined> {
  return (await stat(path).catch(() => undefined)) === undefined ? undefined : path
}

/** What a Python says about itself, or what is wrong with it. */
function ask(file: string, { folder, env }: InterpreterSearch): Promise<Probe | string> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...env }, timeout: PROBE_MS, killSignal: 'SIGKILL' } as const
    execFile(file, ['-c', PROBE], options, (error, stdout, stderr) => {
      if (error === null) resolve(parseProbe(stdout) ?? 'did not say its version')
      else if (error.code === 'ENOENT') resolve('was not found')
      else if (error.killed) resolve(`did not answer within ${PROBE_MS / 1000} seconds`)
      else resolve(`could not be run (${stderr.trim().split('\n').at(-1) || error.message})`)
    })
  })
}

function parseProbe(text: string): Probe | undefined {
  try {
    // A wrapper may have written something of its own before.
    const { version, path, found } = JSON.parse(text.trim().split('\n').at(-1) ?? '') as Partial<Probe>
    if (!Array.isArray(version) || typeof path !== 'string' || path === '') return undefined
    return { version: version.map(Number), path, found: found === true }
  } catch {
    return undefined
  }
}

function isNewEnough([major = 0, minor = 0]: readonly number[]): boolean {
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}
