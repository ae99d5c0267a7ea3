import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Cage } from '../../builders/limits/cage.ts'
import { familyOf, killAll, processesWith, processTable } from '../../builders/limits/processes.ts'
import type { InstanceExit } from '../engine.ts'
import { instanceMark } from '../instance-environment.ts'
import { fromShell, settles } from '../instance-exit.ts'
import type { InstanceFolder } from '../instance-folder.ts'
import { identify, isRunning, type ProcessIdentity, signalTo } from '../process-identity.ts'

const LOOK_EVERY_MS = 250
/** How long the kernel may take to end what was killed. */
const GONE_MS = 10_000

/** The processes of an instance that runs a bundle. */
export class BundleProcess {
  readonly exited: Promise<InstanceExit>
  readonly #folder: InstanceFolder
  readonly #sandboxed: boolean
  /** What was spawned: the runner, or bubblewrap with the runner inside. */
  readonly #process: ProcessIdentity | null
  readonly #cage: Cage | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #isKilled = false

  constructor(options: {
    readonly folder: InstanceFolder
    readonly sandboxed: boolean
    readonly process: ProcessIdentity | null
    readonly cage: Cage | undefined
    /** If it is ours. */
    readonly child: ChildProcess | undefined
  }) {
    this.#folder = options.folder
    this.#sandboxed = options.sandboxed
    this.#process = options.process
    this.#cage = options.cage
    this.exited = this.#end(options.child)
  }

  /** Asks it to end, and ends all of it after so long. */
  async stop(graceMs: number): Promise<void> {
    const family = await this.#family()
    const runner = await this.#runner()
    if (runner !== undefined && graceMs > 0) {
      signalTo(runner, 'SIGTERM')
      if (await settles(this.exited, graceMs)) return
    }
    this.#isKilled = true
    for (const one of family) signalTo(one, 'SIGKILL')
    await this.#killRest()
    if (!(await settles(this.exited, GONE_MS)))
      throw new Error(`The processes of instance ${this.#folder.id} do not end.`)
  }

  /** Lets go of it; it goes on. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #end(child: ChildProcess | undefined): Promise<InstanceExit> {
    const own = child === undefined ? undefined : await exitOf(child)
    // Somebody may have killed bubblewrap alone.
    while ((await this.#isRunning()) && !this.#isClosed) await this.#wait()
    // Let go of: it is not known, and never will be to us.
    if (this.#isClosed) return await new Promise(() => undefined)
    await this.#killRest()
    const { code, signal } = this.#sandboxed ? await this.#told(own) : (own ?? { code: null, signal: null })
    const killed = signal === 'SIGKILL' && !this.#isKilled
    return { code, signal, outOfMemory: killed && ((await this.#cage?.outOfMemory()) ?? false) }
  }

  async #isRunning(): Promise<boolean> {
    if (this.#process !== null && isRunning(this.#process)) return true
    return (await this.#inner()) !== undefined
  }

  /** The first process inside of the sandbox; all others end with it. */
  async #inner(): Promise<ProcessIdentity | undefined> {
    if (!this.#sandboxed) return undefined
    const told = await this.#status()
    const found = told.pid === undefined || told.code !== undefined ? undefined : identify(told.pid)
    if (found === undefined) return undefined
    const environment = await readFile(`/proc/${found.pid}/environ`, 'latin1').catch(() => '')
    return environment.split('\0').includes(instanceMark(this.#folder.id)) ? found : undefined
  }

  /** The runner itself. In a sandbox it is the second process, after the one that buries orphans. */
  async #runner(): Promise<ProcessIdentity | undefined> {
    if (!this.#sandboxed) return this.#process ?? undefined
    const inner = await this.#inner()
    if (inner === undefined) return undefined
    for (const { pid, parent } of await processTable()) {
      if (parent !== inner.pid) continue
      const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
      if (/^NSpid:.*\t2$/m.test(status)) return identify(pid)
    }
    return undefined
  }

  /** What bubblewrap has written down. */
  async #status(): Promise<{ readonly pid: number | undefined; readonly code: number | undefined }> {
    const text = await readFile(this.#folder.status, 'utf8').catch(() => '')
    const number = (name: string): number | undefined => {
      const found = new RegExp(`"${name}": (\\d+)`).exec(text)?.[1]
      return found === undefined ? undefined : Number(found)
    }
    return { pid: number('child-pid'), code: number('exit-code') }
  }

  async #told(
    own: Omit<InstanceExit, 'outOfMemory'> | undefined,
  ): Promise<Omit<InstanceExit, 'outOfMemory'>> {
    const code = (await this.#status()).code ?? own?.code ?? null
    return code === null ? (own ?? { code: null, signal: null }) : fromShell(code)
  }

  async #family(): Promise<readonly ProcessIdentity[]> {
    const roots = [this.#process, await this.#inner()].flatMap((one) =>
      one && isRunning(one) ? [one.pid] : [],
    )
    const pids = familyOf(await processTable(), new Set(roots)).map(({ pid }) => pid)
    return pids.flatMap((pid) => identify(pid) ?? [])
  }

  async #killRest(): Promise<void> {
    await this.#cage?.kill()
    await killAll(async () => {
      const marked = await processesWith(instanceMark(this.#folder.id))
      return marked.length === 0 ? [] : familyOf(await processTable(), new Set(marked)).map(({ pid }) => pid)
    })
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#timer = setTimeout(resolve, LOOK_EVERY_MS)
    })
  }
}

async function exitOf(child: ChildProcess): Promise<Omit<InstanceExit, 'outOfMemory'>> {
  return await new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    // It must not keep us.
    child.unref()
  })
}
