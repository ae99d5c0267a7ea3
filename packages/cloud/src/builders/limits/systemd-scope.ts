import { type Cage, type CagedCommand, type CageLimits, type CageMaker, cageName } from './cage.ts'
import { killProcessesOf } from './processes.ts'

/** Runs a short command and gives its status. */
export type Ask = (argv: readonly string[]) => Promise<{ readonly status: number; readonly text: string }>

/** By these it finds the manager of a user. */
const BUS_VARIABLES = ['XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS']
/** The kernel ends all of a scope when it ends one of its processes. Before version 253 this is not known of scopes, and systemd ends the rest. */
const END_ALL = 'OOMPolicy=kill'

/** Scopes of systemd: one for each command of a build, in a slice of the build. */
export class SystemdScope implements CageMaker {
  readonly name = 'systemd scope'
  readonly #ask: Ask
  readonly #manager: string
  readonly #env: NodeJS.ProcessEnv
  /** Those that every scope has. */
  readonly #properties: readonly string[]

  private constructor(ask: Ask, manager: string, env: NodeJS.ProcessEnv, properties: readonly string[]) {
    this.#ask = ask
    this.#manager = manager
    this.#env = env
    this.#properties = properties
  }

  /** Tries it with the manager of this user, in the environment that it is asked in; or says why that is not possible. */
  static async find(
    ask: Ask,
    isRoot: boolean,
    env: NodeJS.ProcessEnv,
  ): Promise<SystemdScope | { readonly unavailable: string }> {
    const manager = isRoot ? '--system' : '--user'
    const trial = async (properties: readonly string[]) =>
      await ask([
        ...['systemd-run', manager, '--scope', '--quiet', '--collect', '-p', 'MemoryMax=64M'],
        ...properties.flatMap((property) => ['-p', property]),
        'true',
      ])
    const best = await trial([END_ALL])
    if (best.status === 0) return new SystemdScope(ask, manager, env, [END_ALL])
    const { status, text } = best.text.includes(END_ALL) ? await trial([]) : best
    if (status === 0) return new SystemdScope(ask, manager, env, [])
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
      enter: (command) => {
        started += 1
        const properties = limits === undefined ? [] : [...propertiesOf(limits), ...this.#properties]
        const { argv, env } = this.#manager === '--user' ? withBus(command, this.#env) : command
        return {
          argv: [
            ...['systemd-run', this.#manager, '--scope', '--quiet', `--unit=${unit(started)}`],
            ...properties.flatMap((property) => ['-p', property]),
            '--',
            ...argv,
          ],
          env,
        }
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

/** Our bus for `systemd-run`, which passes on all that it has: so the command gets its own back, or none. */
function withBus({ argv, env }: CagedCommand, ours: NodeJS.ProcessEnv): CagedCommand {
  const entering = { ...env }
  const unset: string[] = []
  const set: string[] = []
  for (const name of BUS_VARIABLES) {
    const [bus, own] = [ours[name], env[name]]
    if (bus === own) continue
    if (bus === undefined) delete entering[name]
    else entering[name] = bus
    if (own === undefined) unset.push(`--unset=${name}`)
    else set.push(`${name}=${own}`)
  }
  const isSame = unset.length === 0 && set.length === 0
  return { argv: isSame ? argv : ['env', ...unset, ...set, ...argv], env: entering }
}

function propertiesOf({ memoryBytes, processes, cpus }: CageLimits): readonly string[] {
  return [
    `MemoryMax=${memoryBytes}`,
    'MemorySwapMax=0',
    `TasksMax=${processes}`,
    ...(cpus === undefined ? [] : [`CPUQuota=${Math.ceil(cpus * 100)}%`]),
  ]
}
