import { execFile } from 'node:child_process'
import { lstat, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { RunnerError } from '../errors.ts'
import type { Interpreter, Variables } from '../guests/guest-command.ts'

const NEEDED = [3, 11] as const
const PROBE_MS = 15_000
const MAX_DEPTH = 32
/** What marks the folder of a project, where its environment is. */
const PROJECT_FILES = ['pyproject.toml', 'uv.lock']
/** What a Python is called on the path of programs, the better name first. */
export const PYTHON_NAMES: readonly string[] = ['python3', 'python']
const HOW_TO_SET =
  'Make a .venv beside your bot (uv sync, or python3 -m venv .venv), or give one with --python PATH.'

/** Says the version, the real path behind wrappers, and whether the project has our package. Any Python can say the first. */
const PROBE = `
import json, os, sys
if sys.version_info < (${NEEDED.join(', ')}):
    print(json.dumps({"version": list(sys.version_info[:3]), "path": sys.executable, "found": False}))
    sys.exit()
import importlib.util
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
  const chosen = search.given ?? (await chosenPython(search))
  const tried: string[] = []
  for (const candidate of chosen === undefined ? PYTHON_NAMES : [chosen]) {
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

/** The Python of the project's environment or else of the active one; nothing when there is neither. It may be broken. */
export async function chosenPython({ folder, env }: InterpreterSearch): Promise<string | undefined> {
  return (await projectPython(folder, env)) ?? (await activePython(env))
}

/**
 * The environment of the project: the nearest one from the bot's folder up to the one where the project begins, or that
 * of the uv workspace which the project is a member of.
 */
async function projectPython(botFolder: string, env: Variables): Promise<string | undefined> {
  // The name that uv is told to use instead.
  const name = env.UV_PROJECT_ENVIRONMENT || '.venv'
  const own = await existing(join(botFolder, '.venv/bin/python'))
  let found = own
  let project: string | undefined
  for (const folder of upwards(botFolder)) {
    const python = await existing(resolve(folder, name, 'bin/python'))
    const marks = await Promise.all(PROJECT_FILES.map((file) => existing(join(folder, file))))
    const isProject = marks.some((mark) => mark !== undefined)
    if (project === undefined) found ??= python
    else if (isProject && (await isWorkspace(folder))) return found ?? python
    if (isProject) project ??= folder
  }
  // With no project around it, an environment further up is somebody else's.
  return project === undefined ? own : found
}

function upwards(folder: string): readonly string[] {
  const folders = [folder]
  while (folders.length < MAX_DEPTH) {
    const last = folders.at(-1) ?? folder
    if (dirname(last) === last) break
    folders.push(dirname(last))
  }
  return folders
}

async function isWorkspace(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, 'pyproject.toml'), 'utf8').catch(() => '')
  return /^\[tool\.uv\.workspace\]/m.test(text)
}

async function activePython({ VIRTUAL_ENV: folder }: Variables): Promise<string | undefined> {
  return folder ? existing(join(folder, 'bin/python')) : undefined
}

async function existing(path: string): Promise<string | undefined> {
  // A link that leads nowhere is there: an environment whose Python is gone must be mended, not passed over.
  return (await lstat(path).catch(() => undefined)) === undefined ? undefined : path
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
