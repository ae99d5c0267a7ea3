import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPython } from '../../scripts/find-python.mjs'

const run = promisify(execFile)
const LIMIT_MS = 100_000

/** What installs Python packages, fresh from the public index. */
export class Installers {
  readonly #python: string
  readonly #folder: string

  private constructor(python: string, folder: string) {
    this.#python = python
    this.#folder = folder
  }

  /** Gets them; or why that is not possible here. */
  static async open(): Promise<Installers | { readonly skipped: string }> {
    const python = findPython()
    if ('problem' in python) return { skipped: python.problem }
    const folder = await mkdtemp(join(tmpdir(), 'botcli-installers-'))
    const installers = new Installers(python.path, folder)
    try {
      await installers.environment(join(folder, 'own'))
      await installers.pip(join(folder, 'own'), ['install', '-q', 'uv'], folder)
      return installers
    } catch (error) {
      await installers.close()
      return { skipped: `no pip, or no public index: ${lastLine(error)}` }
    }
  }

  /** Makes a virtual environment. */
  async environment(folder: string): Promise<void> {
    await run(this.#python, ['-m', 'venv', folder], { timeout: LIMIT_MS })
  }

  async pip(environment: string, args: readonly string[], cwd: string): Promise<string> {
    return (await run(join(environment, 'bin/python'), ['-m', 'pip', ...args], { cwd, timeout: LIMIT_MS }))
      .stdout
  }

  async uv(args: readonly string[], cwd: string): Promise<string> {
    const { VIRTUAL_ENV: _, ...env } = process.env
    const options = { cwd, timeout: LIMIT_MS, env: { ...env, UV_PYTHON: this.#python } }
    return (await run(join(this.#folder, 'own/bin/uv'), args, options)).stdout
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** Where an environment has our package, asked in a folder that has nothing to do with it. */
export async function placeOf(environment: string): Promise<string> {
  const ask = 'import botcli; botcli.create_transport; print(botcli.__file__)'
  return (await run(join(environment, 'bin/python'), ['-c', ask], { cwd: tmpdir() })).stdout.trim()
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string }
  return (stderr || message).trim().split('\n').at(-1) ?? ''
}
