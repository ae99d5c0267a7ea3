import { chosenPython, PYTHON_NAMES } from '@botcli/runner/project'
import { compareVersions } from '@botcli/scaffold'
import { lastLine, type ProgramAnswer, type Programs } from './programs.ts'
import type { Project } from './project.ts'

/** What every Python bot needs. */
export const MIN_PYTHON = '3.11'

/** What a Python says of one of its packages. */
export interface PythonPackage {
  /** Nothing when it has been put there without being installed. */
  readonly version: string | null
  /** Why it cannot be imported. */
  readonly problem: string | null
  readonly missing: boolean
}

/** A Python that answers. */
export interface Python {
  /** As it was looked for: a path of the project, or a name on the path of programs. */
  readonly file: string
  readonly version: string
  readonly packages: Readonly<Record<'pipecat' | 'botcli', PythonPackage>>
}

/** What was found: one that works, or why the others do not. */
export interface PythonSearch {
  /** The Python of an environment, which is taken whether it works or not. */
  readonly chosen: string | undefined
  readonly found: Python | undefined
  /** What is wrong with each that was tried, in words that follow its name. */
  readonly tried: readonly { readonly file: string; readonly problem: string }[]
}

/** Imports for real, because an environment can be half installed. Any Python can say its version. */
const PROBE = `
import json, sys
def look(module, name):
    try:
        __import__(module)
    except BaseException as error:
        missing = type(error).__name__ == "ModuleNotFoundError" and error.name == module
        return {"version": None, "problem": type(error).__name__ + ": " + str(error), "missing": missing}
    try:
        from importlib.metadata import version
        return {"version": version(name), "problem": None, "missing": False}
    except Exception:
        return {"version": None, "problem": None, "missing": False}
packages = {"pipecat": look("pipecat", "pipecat-ai"), "botcli": look("botcli", "botcli")}
print("\\n" + json.dumps({"version": ".".join(map(str, sys.version_info[:3])), "packages": packages}))
`

/** Looks for the Python that `botcli run` would take. */
export async function searchPython(
  { folder, server, bot }: Project,
  programs: Programs,
  env: Readonly<Record<string, string | undefined>>,
): Promise<PythonSearch> {
  const chosen = await chosenPython({ folder: server, env: withoutUnset(env) })
  const tried: { file: string; problem: string }[] = []
  for (const file of chosen === undefined ? PYTHON_NAMES : [chosen]) {
    // -B, because looking at a project must leave nothing behind.
    const answer = await programs.run(file, ['-B', '-c', PROBE], bot === undefined ? folder : server)
    const said = answer.kind === 'ended' && answer.code === 0 ? readProbe(answer.stdout) : undefined
    const isOld = said !== undefined && compareVersions(said.version, MIN_PYTHON) < 0
    // That of an environment is taken, whatever it is.
    if (said !== undefined && (chosen !== undefined || !isOld)) {
      return { chosen, found: { file, ...said }, tried }
    }
    tried.push({ file, problem: said === undefined ? problemOf(answer) : `is version ${said.version}` })
  }
  return { chosen, found: undefined, tried }
}

function readProbe(text: string): Omit<Python, 'file'> | undefined {
  try {
    const { version, packages } = JSON.parse(lastLine(text)) as Partial<Python>
    const isWhole =
      typeof version === 'string' && packages?.pipecat !== undefined && packages.botcli !== undefined
    return isWhole ? { version, packages } : undefined
  } catch {
    return undefined
  }
}

function problemOf(answer: ProgramAnswer): string {
  switch (answer.kind) {
    case 'absent':
      return 'is not there'
    case 'late':
      return `did not answer within ${answer.seconds} seconds`
    case 'unusable':
      return `cannot be run (${answer.reason})`
    case 'ended':
      return `cannot be run (${lastLine(answer.stderr) || `exit code ${answer.code}`})`
  }
}

function withoutUnset(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
