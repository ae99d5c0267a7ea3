import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { BuildLimits } from '../builder.ts'
import type { Cage, CageMaker } from './cage.ts'
import { BUILD_VARIABLE, kill, killProcessesOf } from './processes.ts'
import { type SandboxView, sandboxed } from './sandbox.ts'
import { spawnAlone } from './spawn-alone.ts'
import { Spool } from './spool.ts'

/** A command of a build. */
export interface LimitedCommand {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Takes stdout and stderr as they come. */
  readonly output: (bytes: Uint8Array) => void
  /** A file that the output goes through, for a command that loses what is not taken from it at once. */
  readonly spool?: string
  /** What it may see, where there is a sandbox. Without it, it runs outside of one. */
  readonly view?: SandboxView
}

/** How a command ended: by itself with a status, or by us with a reason. */
export interface CommandEnd {
  readonly status: number
  readonly ended: 'itself' | 'aborted' | 'time' | 'memory' | 'processes' | 'disk'
}

/** What holds the commands of one build. */
export interface LimitedRun {
  run(command: LimitedCommand): Promise<CommandEnd>
  /** Ends whatever is left, and removes what was made for the build. */
  close(): Promise<void>
}

/** How a build is measured and ended. */
export interface LimitedBuild {
  readonly buildId: string
  readonly limits: BuildLimits
  readonly signal: AbortSignal
  /** The disk space that the build takes now. */
  readonly disk: () => Promise<number>
}

/** The tools that a limiter found on this machine. */
export interface LimiterTools {
  readonly cages: CageMaker
  /** The path of bubblewrap, if it works here. */
  readonly bwrap: string | undefined
  readonly prlimit: boolean
  /** Why better ways to limit were not taken. */
  readonly notes: readonly string[]
}

const DISK_EVERY_MS = 500
/** How long what a command left behind may hold its output open. */
const PIPES_MS = 1000
const NOT_STARTED = 127

/** Keeps commands within limits of time, memory, processes and disk, and leaves nothing of them behind. */
export class Limiter {
  readonly #tools: LimiterTools

  constructor(tools: LimiterTools) {
    this.#tools = tools
  }

  /** In a sentence, for the log. */
  get description(): string {
    const { cages, bwrap } = this.#tools
    return `limits by ${cages.name}, ${bwrap === undefined ? 'no sandbox' : 'sandbox by bubblewrap'}`
  }

  get notes(): readonly string[] {
    return this.#tools.notes
  }

  get hasSandbox(): boolean {
    return this.#tools.bwrap !== undefined
  }

  async open(build: LimitedBuild): Promise<LimitedRun> {
    const cage = await this.#tools.cages.open(build.buildId, build.limits)
    const deadline = performance.now() + build.limits.seconds * 1000
    return {
      run: async (command) => await this.#run(command, build, cage, deadline),
      close: async () => await cage.close(),
    }
  }

  /** Ends and removes what is left of a build whose owner was killed. */
  async cleanUp(buildId: string): Promise<void> {
    await killProcessesOf(buildId)
    await this.#tools.cages.cleanUp(buildId)
  }

  async #run(
    command: LimitedCommand,
    build: LimitedBuild,
    cage: Cage,
    deadline: number,
  ): Promise<CommandEnd> {
    const { signal } = build
    if (signal.aborted) return { status: NOT_STARTED, ended: 'aborted' }
    const { argv, env } = cage.enter({
      argv: this.#wrapped(command, build.limits),
      env: { ...command.env, [BUILD_VARIABLE]: build.buildId },
    })
    const spool = command.spool === undefined ? undefined : await Spool.open(command.spool, command.output)
    const target = spool?.fd ?? 'pipe'
    const child = spawnAlone(spawn, argv, {
      cwd: command.cwd,
      env,
      // A group of its own, so that one signal reaches all of it.
      detached: true,
      stdio: ['ignore', target, target],
    })
    let ended: CommandEnd['ended'] = 'itself'
    const end = (reason: CommandEnd['ended']): void => {
      if (ended !== 'itself') return
      ended = reason
      killGroup(child.pid)
    }
    child.stdout?.on('data', command.output)
    child.stderr?.on('data', command.output)
    const onAbort = (): void => end('aborted')
    signal.addEventListener('abort', onAbort, { once: true })
    const timer = setTimeout(() => end('time'), Math.max(0, deadline - performance.now()))
    const watch = child.pid === undefined ? undefined : cage.watch?.(child.pid, end)
    const disk = watchDisk(build, () => end('disk'))
    // Of one that cannot be started there is nothing to wait for.
    const closed = once(child, 'close').catch(() => undefined)
    let status: number
    try {
      status = await new Promise<number>((resolve) => {
        child.once('error', (error) => {
          const why = existsSync(command.cwd) ? error.message : 'the folder that it is to run in is not there'
          command.output(Buffer.from(`${command.argv[0]}: ${why}\n`))
          resolve(NOT_STARTED)
        })
        child.once('exit', (code, name) => resolve(code ?? 128 + (name === 'SIGKILL' ? 9 : 15)))
      })
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      watch?.stop()
      disk.stop()
    }
    killGroup(child.pid)
    await cage.kill()
    await closes(closed)
    child.stdout?.destroy()
    child.stderr?.destroy()
    await spool?.close()
    if (ended === 'itself' && status !== 0 && (await cage.outOfMemory())) ended = 'memory'
    return { status, ended }
  }

  #wrapped({ argv, view }: LimitedCommand, limits: BuildLimits): readonly string[] {
    const { bwrap, prlimit } = this.#tools
    const inside = bwrap === undefined || view === undefined ? argv : sandboxed(bwrap, view, argv)
    return prlimit ? ['prlimit', `--fsize=${limits.diskBytes}`, '--core=0', '--', ...inside] : inside
  }
}

function killGroup(pid: number | undefined): void {
  if (pid !== undefined) kill(-pid)
}

async function closes(closed: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, PIPES_MS)
  })
  await Promise.race([closed, late])
  clearTimeout(timer)
}

/** Measures now and then; large folders less often, so that measuring never takes more than a tenth of the time. */
function watchDisk({ disk, limits }: LimitedBuild, exceeded: () => void): { stop(): void } {
  let stopped = false
  let timer = setTimeout(look, DISK_EVERY_MS)
  async function look(): Promise<void> {
    const started = performance.now()
    // What cannot be measured now can be in a moment.
    const bytes = await disk().catch(() => 0)
    if (stopped) return
    if (bytes > limits.diskBytes) exceeded()
    timer = setTimeout(look, Math.max(DISK_EVERY_MS, 10 * (performance.now() - started)))
  }
  return {
    stop: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}
