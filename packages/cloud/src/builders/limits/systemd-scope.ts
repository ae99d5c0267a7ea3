import { type Cage, type CageLimits, type CageMaker, cageName } from './cage.ts'
import { killProcessesOf } from './processes.ts'

/** Runs a short command and gives its status. */
export type Ask = (argv: readonly string[]) => Promise<{ readonly status: number; readonly text: string }>

/** Scopes of systemd: one for each command of a build, in a slice of the build. */
export class SystemdScope implements CageMaker {
  readonly name = 'systemd scope'
  readonly #ask: Ask
  readonly #manager: string

  private constructor(ask: Ask, manager: string) {
    this.#ask = ask
    this.#manager = manager
  }

  /** Tries it with the manager of this user; or says why that is not possible. */
  static async find(ask: Ask, isRoot: boolean): Promise<SystemdScope | { readonly unavailable: string }> {
    const manager = isRoot ? '--system' : '--user'
    const { status, text } = await ask([
      'systemd-run',
      manager,
      '--scope',
      '--quiet',
      '--collect',
      '-p',
      'MemoryMax=64M',
      'true',
    ])
    if (status === 0) return new SystemdScope(ask, manager)
    return {
      unavailable: `systemd-run does not work (${text.trim().split('\n').at(-1) ?? `status ${status}`})`,
    }
  }

  async open(id: string, limits: CageLimits): Promise<Cage> {
    return this.#cage(id, limits, 0)
  }

  /** What was started before is its first scope: only builds have more, and they are not looked for. */
  find(id: string): Cage {
    return this.#cage(id, undefined, 1)
  }

  #cage(id: string, limits: CageLimits | undefined, before: number): Cage {
    const unit = (count: number): string => `${cageName(id)}-${count}.scope`
    let started = before
    const killAll = async (): Promise<void> => {
      if (started > 0)
        await this.#ask(['systemctl', this.#manager, 'kill', '--signal=SIGKILL', unit(started)])
      await killProcessesOf(id)
    }
    return {
      enter: (argv) => {
        started += 1
        const properties = limits === undefined ? [] : propertiesOf(limits)
        return [
          ...['systemd-run', this.#manager, '--scope', '--quiet', `--unit=${unit(started)}`],
          ...properties.flatMap((property) => ['-p', property]),
          '--',
          ...argv,
        ]
      },
      outOfMemory: async () => {
        const { text } = await this.#ask(['systemctl', this.#manager, 'show', '-p', 'Result', unit(started)])
        return text.includes('oom-kill')
      },
      kill: killAll,
      close: async () => {
        await killAll()
        // A scope that failed is kept until somebody has seen why.
        for (let count = 1; count <= started; count += 1)
          await this.#ask(['systemctl', this.#manager, 'reset-failed', unit(count)])
      },
    }
  }

  async cleanUp(id: string): Promise<void> {
    await this.#ask(['systemctl', this.#manager, 'kill', '--signal=SIGKILL', `${cageName(id)}-*.scope`])
    await killProcessesOf(id)
  }
}

function propertiesOf({ memoryBytes, processes, cpus }: CageLimits): readonly string[] {
  return [
    `MemoryMax=${memoryBytes}`,
    'MemorySwapMax=0',
    `TasksMax=${processes}`,
    'OOMPolicy=kill',
    ...(cpus === undefined ? [] : [`CPUQuota=${Math.ceil(cpus * 100)}%`]),
  ]
}
