import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { RunnerConfig } from '../config.ts'
import { childrenOf, isAlive } from './processes.ts'
import { RunnerFixture, until } from './runner-fixture.ts'

/** The Python echo bot of the examples. */
export const PYTHON_ECHO = resolve(import.meta.dirname, '../../../../examples/echo-python/bot.py')
/** A bot that does what the body's `act` says. */
export const MISBEHAVING = resolve(import.meta.dirname, 'bots/misbehaving.py')

/** A runner with a Python bot in a folder of its own. */
export class PythonRunner {
  readonly runner: RunnerFixture
  readonly folder: string

  private constructor(runner: RunnerFixture, folder: string) {
    this.runner = runner
    this.folder = folder
  }

  /** Runs a bot of this source. `prepare` may put more into its folder before. */
  static async start(
    source: string,
    config: Partial<RunnerConfig> = {},
    prepare: (folder: string) => Promise<void> = async () => {},
  ): Promise<PythonRunner> {
    const folder = await mkdtemp(join(tmpdir(), 'botcli-python-'))
    await writeFile(join(folder, 'bot.py'), source)
    await prepare(folder)
    return new PythonRunner(await RunnerFixture.start(join(folder, 'bot.py'), config), folder)
  }

  /** Saves the bot, as an editor does. */
  save(source: string): Promise<void> {
    return writeFile(join(this.folder, 'bot.py'), source)
  }

  async close(): Promise<void> {
    await this.runner.close()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Every process of Python bots that this process has started, forked ones included. */
export function pythonProcesses(): readonly number[] {
  const own = childrenOf(process.pid, 'botcli.guest')
  return [...own, ...own.flatMap((pid) => childrenOf(pid, 'botcli.guest'))].filter(isAlive)
}

/** The processes that a bot has told of in its session's log. */
export function toldProcesses({ log }: RunnerFixture, sessionId: string): readonly number[] {
  return log.lines
    .filter((line) => line.sessionId === sessionId && line.from === 'bot')
    .flatMap(({ msg }) => /^pid (\d+)$/.exec(msg)?.[1] ?? [])
    .map(Number)
}

/** Waits until a session is over and nothing of its processes is left; at least one has to have been told of. */
export async function expectNothingLeft(runner: RunnerFixture, sessionId: string): Promise<void> {
  await runner.ended(sessionId)
  const pids = toldProcesses(runner, sessionId)
  if (pids.length === 0) throw new Error(`the bot of ${sessionId} did not tell its process`)
  await until(() => !pids.some(isAlive), `the processes ${pids} to be gone`, 3000)
}

/** The line of a file in which a text is, counted from one. */
export async function lineOf(path: string, text: string): Promise<number> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  return lines.findIndex((line) => line.includes(text)) + 1
}
