import { join } from 'node:path'
import { RunnerFixture, testConfig } from '../../packages/runner/src/testing/runner-fixture.ts'
import { OpenaiDouble } from './openai-double.ts'

/** A bot of this suite on our runner, with the services that it uses. */
export class House {
  readonly openai: OpenaiDouble
  readonly runner: RunnerFixture

  private constructor(openai: OpenaiDouble, runner: RunnerFixture) {
    this.openai = openai
    this.runner = runner
  }

  /** Runs a bot of the folder `bots` with this interpreter. */
  static async start(python: string, bot: string, env: Record<string, string> = {}): Promise<House> {
    const openai = await OpenaiDouble.start()
    const path = join(import.meta.dirname, 'bots', bot)
    const runner = await RunnerFixture.start(path, {
      python: { path: python, start: 'fork' },
      env: { ...testConfig(path).env, OPENAI_BASE_URL: openai.url, ...env },
    })
    return new House(openai, runner)
  }

  async close(): Promise<void> {
    await this.runner.close()
    await this.openai.close()
  }
}
