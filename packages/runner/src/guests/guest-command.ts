import { createRequire } from 'node:module'
import { delimiter } from 'node:path'
import type { JavaScriptCode } from './guest.ts'
import { findPythonPackage } from './python-package.ts'

/** Found once, because a machine that is out of files cannot look. */
const GUEST_MAIN = createRequire(import.meta.url).resolve('@botcli/bot/guest-main')
/** The Python package that comes with the runner, for projects that have not installed it. */
const PYTHON_PACKAGE = findPythonPackage()

const JAVASCRIPT_LOAD_MS = 30_000
/** A large library that is imported for the first time has to be compiled, too, and some load their models then. */
export const PYTHON_LOAD_MS = 300_000

/** Variables, all of which have a value. */
export type Variables = Readonly<Record<string, string>>

/** A process that becomes a guest. */
export interface GuestCommand {
  readonly version: number
  readonly file: string
  readonly args: readonly string[]
  readonly env: Variables
  /** How long it may take to load the user's code. */
  readonly loadMs: number
}

/** The process for a bot in JavaScript. */
export function javascriptCommand(
  { url, version }: JavaScriptCode,
  env: Variables,
  maxMemoryBytes: number,
): GuestCommand {
  const heapMb = Math.floor(maxMemoryBytes / (1024 * 1024))
  return {
    version,
    file: process.execPath,
    args: ['--enable-source-maps', `--max-old-space-size=${heapMb}`, GUEST_MAIN],
    env: { ...env, BOTCLI_BOT_URL: url },
    loadMs: JAVASCRIPT_LOAD_MS,
  }
}

/** A Python that can run bots. */
export interface Interpreter {
  readonly path: string
  /** Whether the project has our package. Then that one is used. */
  readonly hasPackage: boolean
}

/** The tracebacks of a much-used log library show what called the bot, and the values of variables, which may be secret. */
const QUIET_TRACEBACKS = { LOGURU_BACKTRACE: 'NO', LOGURU_DIAGNOSE: 'NO' }

/** What starts a Python process for the bot in this file. */
export function pythonCommand(
  { path: file, hasPackage }: Interpreter,
  botPath: string,
  given: Variables,
): Pick<GuestCommand, 'file' | 'args' | 'env'> {
  const env = { ...QUIET_TRACEBACKS, ...given, BOTCLI_BOT_PATH: botPath }
  const search = [given.PYTHONPATH, PYTHON_PACKAGE].filter(Boolean).join(delimiter)
  return {
    file,
    args: ['-m', 'botcli.guest'],
    env: hasPackage ? env : { ...env, PYTHONPATH: search },
  }
}
