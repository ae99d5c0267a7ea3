import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { SessionView } from '@botcli/protocol'
import { DEFAULTS, type RunnerConfig } from '../config.ts'
import { type RunningRunner, startRunner } from '../runner.ts'
import { LogCapture } from './log-capture.ts'

const REPOSITORY = resolve(import.meta.dirname, '../../../..')

/** The echo bot of the examples. */
export const ECHO = join(REPOSITORY, 'examples/echo/bot.ts')

/** A runner on a free port, with the log it wrote. */
export class RunnerFixture {
  readonly runner: RunningRunner
  readonly log: LogCapture
  readonly folder: string | undefined

  private constructor(runner: RunningRunner, log: LogCapture, folder: string | undefined) {
    this.runner = runner
    this.log = log
    this.folder = folder
  }

  /** Runs a bot: the path of one, or the source of one, which is then written into a folder of its own. */
  static async start(bot: string, config: Partial<RunnerConfig> = {}): Promise<RunnerFixture> {
    const isPath = !bot.includes('\n')
    const folder = isPath ? undefined : await botFolder(bot)
    const botPath = folder === undefined ? bot : join(folder, 'bot.ts')
    const log = new LogCapture()
    const runner = await startRunner(testConfig(botPath, config), { logger: log.logger })
    return new RunnerFixture(runner, log, folder)
  }

  get url(): string {
    return this.runner.url
  }

  request(path: string, init?: RequestInit): Promise<Response> {
    const headers = new Headers(init?.headers)
    // On a busy machine a connection that is used again may have just been closed.
    headers.set('connection', 'close')
    return fetch(`${this.url}${path}`, { redirect: 'manual', ...init, headers })
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return this.request(path, {
      method: 'POST',
      body: text,
      headers: { 'Content-Type': 'application/json', ...headers },
    })
  }

  /** What `/start` answers. */
  async start(body: unknown = {}): Promise<Record<string, string>> {
    return (await this.post('/start', body)).json() as Promise<Record<string, string>>
  }

  async session(id: string): Promise<SessionView> {
    return (await this.request(`/sessions/${id}`)).json() as Promise<SessionView>
  }

  /** Waits until a session is over, and gives its last view. */
  async ended(id: string, limitMs = 45_000): Promise<SessionView> {
    return until(
      async () => {
        const view = await this.session(id)
        return view.state === 'ended' ? view : undefined
      },
      `session ${id} to end`,
      limitMs,
    )
  }

  async close(): Promise<void> {
    await this.runner.close({ deadlineMs: 2000 })
    if (this.folder !== undefined) await rm(this.folder, { recursive: true, force: true })
  }
}

/** The configuration of a runner on a free port. */
export function testConfig(botPath: string, config: Partial<RunnerConfig> = {}): RunnerConfig {
  const botFolder = resolve(botPath, '..')
  return { ...DEFAULTS, port: 0, warm: 1, botPath, botFolder, env: environment(), ...config }
}

/** Asks again and again until there is an answer. */
export async function until<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  what: string,
  limitMs = 45_000,
): Promise<T> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** A folder with a bot of this source in it. */
export async function botFolder(source: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'botcli-test-'))
  await writeFile(join(folder, 'bot.ts'), source)
  await mkdir(join(folder, 'node_modules'))
  await symlink(join(REPOSITORY, 'node_modules/@botcli'), join(folder, 'node_modules/@botcli'))
  return folder
}

function environment(): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || name.startsWith('VITEST') || name === 'NODE_OPTIONS' ? [] : [[name, value]],
  )
  return { ...Object.fromEntries(entries), ENV: 'local' }
}
