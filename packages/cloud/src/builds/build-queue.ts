import type { Clock, CloudLog } from '../log.ts'
import type { Store, StoredBuild } from '../store/store.ts'
import type { StopReason } from './build-end.ts'

/** How often things are looked at, and how long a lease is. */
export interface QueueTimes {
  readonly leaseMs: number
  readonly renewMs: number
  readonly sweepMs: number
  /** Builds that other processes have made pending are found after this long. */
  readonly pollMs: number
}

const TIMES: QueueTimes = { leaseMs: 60_000, renewMs: 10_000, sweepMs: 10_000, pollMs: 2000 }

/** What builds are done with. */
export interface BuildWork {
  /** Does a build, to its end. An abort has a {@link StopReason}. */
  run(build: StoredBuild, signal: AbortSignal): Promise<void>
  /** Ends a build whose owner is gone. */
  recover(build: StoredBuild): Promise<void>
}

/** What a queue needs. */
export interface BuildQueueOptions {
  readonly store: Store
  readonly work: BuildWork
  readonly owner: string
  readonly concurrency: number
  readonly perOrganization: number
  readonly log: CloudLog
  readonly clock: Clock
  readonly times?: QueueTimes
}

interface Running {
  readonly abort: AbortController
  readonly over: Promise<void>
}

/** Takes pending builds by lease and has them done, some at a time. */
export class BuildQueue {
  readonly #options: BuildQueueOptions
  readonly #times: QueueTimes
  readonly #running = new Map<string, Running>()
  /** Builds whose lease could not even be given up: nothing can be written. */
  readonly #unended = new Set<string>()
  #timers: NodeJS.Timeout[] = []
  #filling: Promise<void> | undefined
  #isAwake = false
  #isSweeping = false
  #isOpen = false

  constructor(options: BuildQueueOptions) {
    this.#options = options
    this.#times = options.times ?? TIMES
  }

  /** How many builds are being done. */
  get running(): number {
    return this.#running.size
  }

  /** Whether a build is being done here. */
  isRunning(id: string): boolean {
    return this.#running.has(id)
  }

  /**
   * Begins. When no other process can work on this store, every build that was begun has lost its owner, and is ended before the first one is
   * taken.
   */
  async start({ isAlone }: { readonly isAlone: boolean }): Promise<void> {
    await this.#recoverAll(isAlone ? Number.MAX_SAFE_INTEGER : this.#options.clock())
    this.#isOpen = true
    const { pollMs, renewMs, sweepMs } = this.#times
    this.#timers = [
      setInterval(() => this.wake(), pollMs),
      setInterval(() => void this.#renewAll(), renewMs),
      setInterval(() => void this.#sweep(), sweepMs),
    ]
    this.wake()
  }

  /** There may be something to do. */
  wake(): void {
    this.#isAwake = true
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined
    })
  }

  /** Ends a build that is being done here; it is over when this resolves. */
  async stop(id: string, reason: StopReason): Promise<void> {
    const running = this.#running.get(id)
    running?.abort.abort(reason)
    await running?.over
  }

  /** Takes no more builds, gives those that are being done until the deadline, and then ends them. */
  async close({ deadlineMs }: { readonly deadlineMs: number }): Promise<void> {
    this.#isOpen = false
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
    await this.#filling
    const renewing = setInterval(() => void this.#renewAll(), this.#times.renewMs)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, deadlineMs)
    })
    await Promise.race([late, Promise.all([...this.#running.values()].map(({ over }) => over))])
    clearTimeout(timer)
    await Promise.all([...this.#running.keys()].map((id) => this.stop(id, 'stopping')))
    clearInterval(renewing)
  }

  async #fill(): Promise<void> {
    const { store, owner, concurrency, perOrganization, log, clock } = this.#options
    try {
      while (this.#isOpen && this.#isAwake) {
        this.#isAwake = false
        while (this.#isOpen && this.#running.size < concurrency) {
          const now = clock()
          const build = await store.builds.lease(owner, now, now + this.#times.leaseMs, perOrganization)
          if (!build) break
          this.#begin(build)
        }
      }
    } catch (error) {
      log.error('no build could be taken from the queue', { error })
    }
  }

  #begin(build: StoredBuild): void {
    const abort = new AbortController()
    const over = this.#options.work
      .run(build, abort.signal)
      .catch((error: unknown) => {
        this.#options.log.error('a build could not be ended', { buildId: build.id, error })
        return this.#letGo(build.id)
      })
      .then(() => {
        this.#running.delete(build.id)
        if (this.#isOpen) this.wake()
      })
    this.#running.set(build.id, { abort, over })
  }

  async #renewAll(): Promise<void> {
    const { store, owner, log, clock } = this.#options
    for (const [id, { abort }] of this.#running) {
      try {
        const lease = await store.builds.renew(id, owner, clock() + this.#times.leaseMs)
        if (!lease) abort.abort('lost' satisfies StopReason)
        else if (lease.cancelRequested) abort.abort('cancelled' satisfies StopReason)
      } catch (error) {
        log.warn('the lease of a build was not renewed', { buildId: id, error })
      }
    }
  }

  /** Gives up the lease of a build that could not be ended, so that it is tried again with the next sweep. */
  async #letGo(id: string): Promise<void> {
    const { store, owner, log, clock } = this.#options
    this.#unended.add(id)
    try {
      await store.builds.renew(id, owner, clock())
      this.#unended.delete(id)
    } catch (error) {
      log.warn('the lease of a build was not given up', { buildId: id, error })
    }
  }

  async #sweep(): Promise<void> {
    if (this.#isSweeping) return
    this.#isSweeping = true
    for (const id of [...this.#unended]) await this.#letGo(id)
    await this.#recoverAll(this.#options.clock())
    this.#isSweeping = false
  }

  async #recoverAll(before: number): Promise<void> {
    const { store, work, log, owner, clock } = this.#options
    try {
      for (const build of await store.builds.takeOver(owner, before, clock() + this.#times.leaseMs)) {
        if (this.#running.has(build.id)) continue
        log.warn('a build had lost its owner and is ended', { buildId: build.id })
        await work.recover(build).catch((error: unknown) => {
          log.error('a build that had lost its owner could not be ended', { buildId: build.id, error })
          return this.#letGo(build.id)
        })
      }
    } catch (error) {
      log.error('builds without an owner could not be looked for', { error })
    }
  }
}
