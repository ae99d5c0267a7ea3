import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { childrenOf } from '../../../runner/src/testing/processes.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'

export { botFolder } from '../../../runner/src/testing/runner-fixture.ts'

const REPOSITORY = resolve(import.meta.dirname, '../../../..')

/** The real command as a process of its own, in a group of its own, as a terminal starts it. */
export class StartedRunner {
  readonly child: ChildProcess
  readonly lines: string[] = []
  stderr = ''

  constructor(bot: string, options = ['--port', '0'], env: Readonly<Record<string, string>> = {}) {
    const bin = join(REPOSITORY, 'packages/cli/bin/botcli.js')
    this.child = spawn(process.execPath, [bin, 'run', bot, ...options], {
      cwd: REPOSITORY,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    if (this.child.stdout !== null) {
      createInterface({ input: this.child.stdout }).on('line', (line) => this.lines.push(line))
    }
    this.child.stderr?.on('data', (chunk) => {
      this.stderr += String(chunk)
    })
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  /** Its address, once it serves. */
  async url(): Promise<string> {
    const ready = await until(
      () => this.lines.find((line) => line.includes('"ready"')),
      'the runner to be ready',
    )
    return (JSON.parse(ready) as { url: string }).url
  }

  guests(): readonly number[] {
    return childrenOf(this.pid, 'guest/main.js')
  }

  children(): readonly number[] {
    return childrenOf(this.pid, 'main.js')
  }

  /** A key press in a terminal: everything in its group hears it. */
  interrupt(): void {
    process.kill(-this.pid, 'SIGINT')
  }

  async exitCode(): Promise<number | null> {
    if (this.child.exitCode !== null) return this.child.exitCode
    const [code] = await once(this.child, 'exit')
    return code as number | null
  }
}
