import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunnerConfig } from '../config.ts'
import { RunnerFixture, until } from './runner-fixture.ts'

/** What a bot was called with. */
export type BotArguments = Readonly<Record<string, unknown>> & { readonly sessionId: string }

const SOURCE = `
import { appendFileSync } from 'node:fs'
export async function bot(args) {
  appendFileSync(process.env.BOT_REPORT, JSON.stringify(args) + '\\n')
  if (args.body.leave) return
  await new Promise((resolve) => setTimeout(resolve, 60_000))
}
`

/** A runner whose bot writes down its arguments, and then waits for its end. */
export class ReportingRunner {
  readonly runner: RunnerFixture
  readonly #folder: string

  private constructor(runner: RunnerFixture, folder: string) {
    this.runner = runner
    this.#folder = folder
  }

  static async start(config: Partial<RunnerConfig> = {}): Promise<ReportingRunner> {
    const folder = await mkdtemp(join(tmpdir(), 'botcli-report-'))
    const env = { PATH: process.env.PATH ?? '', BOT_REPORT: join(folder, 'report') }
    return new ReportingRunner(await RunnerFixture.start(SOURCE, { env, ...config }), folder)
  }

  /** The arguments of every bot so far. */
  async reports(): Promise<readonly BotArguments[]> {
    const text = await readFile(join(this.#folder, 'report'), 'utf8').catch(() => '')
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as BotArguments)
  }

  /** The arguments of a bot, once it runs. */
  report(sessionId: string): Promise<BotArguments> {
    const find = async () => (await this.reports()).find((args) => args.sessionId === sessionId)
    return until(find, `the bot of ${sessionId}`)
  }

  async close(): Promise<void> {
    await this.runner.close()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
