import type { ChildProcess } from 'node:child_process'
import type { InstanceExit } from '../engine.ts'
import { fromShell, settles } from '../instance-exit.ts'
import type { ContainerRun } from '../instance-record.ts'
import { identify, isRunning, signalTo } from '../process-identity.ts'
import type { ContainerState, ContainerTool } from './container-tool.ts'

const LOOK_EVERY_MS = 250
const LOOKS_WITHOUT_ASKING = 20
/** An engine that does not answer is asked so often, every second. */
const ASKED_AT_MOST = 30
const GONE_MS = 15_000
/** One that is just being made gets so long beyond its grace to be there, so that it can be stopped. */
const MADE_MS = 2000

/** The container of an instance. */
export class ContainerProcess {
  readonly exited: Promise<InstanceExit>
  readonly #tool: ContainerTool
  readonly #run: ContainerRun
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(tool: ContainerTool, run: ContainerRun, child: ChildProcess | undefined) {
    this.#tool = tool
    this.#run = run
    this.exited = this.#end(child)
  }

  /** Asks it to end, and ends it after so long. */
  async stop(graceMs: number): Promise<void> {
    const until = performance.now() + graceMs
    // One that is being made right now cannot be stopped yet.
    do {
      await this.#tool.stop(this.#run.name, Math.max(0, until - performance.now()))
      if (await settles(this.exited, LOOK_EVERY_MS)) return
    } while (this.#isStarting() && performance.now() < until + MADE_MS)
    if (this.#run.client !== null) signalTo(this.#run.client, 'SIGKILL')
    await this.#tool.remove(this.#run.name)
    if (!(await settles(this.exited, GONE_MS)))
      throw new Error(`The container ${this.#run.name} does not end.`)
  }

  /** Lets go of it; it goes on. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #end(child: ChildProcess | undefined): Promise<InstanceExit> {
    const own = child === undefined ? undefined : await statusOf(child)
    for (;;) {
      const state = await this.#state()
      // Let go of: it is not known, and never will be to us.
      if (this.#isClosed) return await new Promise(() => undefined)
      if (state?.Running) await this.#untilGone(state)
      else if (this.#isStarting()) await this.#wait(LOOK_EVERY_MS)
      else return exitOf(state, own)
    }
  }

  /** Its engine may be started again just now. */
  async #state(): Promise<ContainerState | undefined> {
    for (let asked = 1; ; asked += 1) {
      try {
        return await this.#tool.state(this.#run.name)
      } catch (error) {
        if (asked === ASKED_AT_MOST || this.#isClosed) return undefined
        if (!(error instanceof Error)) throw error
        await this.#wait(1000)
      }
    }
  }

  #isStarting(): boolean {
    return this.#run.client !== null && isRunning(this.#run.client)
  }

  /**
   * The program of the engine ends with the container, and watching it costs less than asking. Without it the container's first process
   * is watched; but that may be one of another machine, so the engine is asked again soon.
   */
  async #untilGone({ Pid }: ContainerState): Promise<void> {
    const { client } = this.#run
    const hasClient = client !== null && isRunning(client)
    const watched = hasClient ? client : identify(Pid)
    for (let looks = 0; hasClient || looks < LOOKS_WITHOUT_ASKING; looks += 1) {
      await this.#wait(LOOK_EVERY_MS)
      if (this.#isClosed || watched === undefined || !isRunning(watched)) return
    }
  }

  async #wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#timer = setTimeout(resolve, ms)
    })
  }
}

function exitOf(state: ContainerState | undefined, own: number | null | undefined): InstanceExit {
  // Of one that could not be started, only the engine's program tells that it failed.
  const code = (state?.Status === 'created' ? undefined : state?.ExitCode) ?? own ?? null
  const end = code === null ? { code, signal: null } : fromShell(code)
  // Engines also say so of a container whose runner went on after one of its bots was ended.
  return { ...end, outOfMemory: end.signal === 'SIGKILL' && (state?.OOMKilled ?? false) }
}

async function statusOf(child: ChildProcess): Promise<number | null> {
  return await new Promise((resolve) => {
    child.once('exit', (code) => resolve(code))
    // It must not keep us.
    child.unref()
  })
}
