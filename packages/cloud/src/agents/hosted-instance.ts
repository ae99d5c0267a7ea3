import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionView } from '@botcli/protocol'
import type { Instance, InstanceExit } from '../engine/engine.ts'
import type { InstanceClient } from '../engine/instance-client.ts'
import type { Clock } from '../log.ts'
import type { StoredInstance } from '../store/agents.ts'
import type { InstanceIngest } from './instance-ingest.ts'

const READY_POLL_MS = 25
const REJOIN_MS = 200
/** An instance that does not beat for so long, though its process is there, hangs. */
const HUNG_MS = 60_000

/** The life of an instance. */
export type InstanceState = 'starting' | 'ready' | 'stopping' | 'gone'

/** How an instance came to its end. */
export interface InstanceEnd {
  readonly exit: InstanceExit
  readonly wasReady: boolean
  /** It took too long to become ready, or did not beat any more. */
  readonly hung: boolean
  /** Whether we ended it on purpose. */
  readonly expected: boolean
  /** Its last words. */
  readonly words: string
  readonly livedMs: number
}

/** Who is told of an instance. */
export interface HostedInstanceEvents {
  /** It answers, and has these sessions. Its journal was read up to now. It takes new sessions after this. */
  joined(instance: HostedInstance, sessions: readonly SessionView[]): Promise<void>
  /** It takes sessions. */
  ready(instance: HostedInstance): void
  /** Nothing of it is left, and its journal was read to the end. */
  gone(instance: HostedInstance, end: InstanceEnd): Promise<void>
}

/** What an instance is hosted with. */
export interface HostedInstanceOptions {
  readonly stored: StoredInstance
  readonly instance: Instance
  readonly maxSessions: number
  /** Those that it had when it was found again. */
  readonly sessions: readonly string[]
  readonly client: InstanceClient
  readonly ingest: InstanceIngest
  /** How long it may take to become ready. */
  readonly startMs: number
  /** How long it gets to end. */
  readonly stopMs: number
  readonly events: HostedInstanceEvents
  readonly clock: Clock
}

/** An instance, from its start or its being found again to its end, and its places for sessions. */
export class HostedInstance {
  readonly stored: StoredInstance
  readonly maxSessions: number
  /** Resolves when it is gone and everybody was told, or when it was let go. */
  readonly over: Promise<void>
  /** Resolves when it is ready, or will not be. */
  readonly settled: Promise<void>
  readonly #options: HostedInstanceOptions
  readonly #sessions: Set<string>
  readonly #letGo = new AbortController()
  readonly #begunAt: number
  #exit: InstanceExit | undefined
  #state: InstanceState = 'starting'
  #readyAt: number | undefined
  #idleSince: number
  #isHung = false
  #settle: () => void = () => {}

  constructor(options: HostedInstanceOptions) {
    this.stored = options.stored
    this.maxSessions = options.maxSessions
    this.#options = options
    this.#sessions = new Set(options.sessions)
    this.#begunAt = options.clock()
    this.#idleSince = this.#begunAt
    options.instance.exited.then((exit) => {
      this.#exit = exit
    })
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.over = this.#live()
  }

  get id(): string {
    return this.stored.id
  }

  get socketPath(): string {
    return this.#options.instance.socketPath
  }

  get state(): InstanceState {
    return this.#state
  }

  get readyAt(): number | undefined {
    return this.#readyAt
  }

  /** How many sessions it has, or is about to have. */
  get sessions(): number {
    return this.#sessions.size
  }

  get sessionIds(): readonly string[] {
    return [...this.#sessions]
  }

  /** Since when it has had none. */
  get idleSince(): number {
    return this.#idleSince
  }

  get hasRoom(): boolean {
    return this.#state === 'ready' && this.#sessions.size < this.maxSessions
  }

  /** Takes a place. */
  reserve(sessionId: string): void {
    this.#sessions.add(sessionId)
  }

  /** Gives a place back. */
  release(sessionId: string): void {
    if (this.#sessions.delete(sessionId) && this.#sessions.size === 0) this.#idleSince = this.#options.clock()
  }

  /** Ends it, and what is left of its sessions. */
  async stop(graceMs: number = this.#options.stopMs): Promise<void> {
    if (this.#state !== 'gone') this.#state = 'stopping'
    await this.#options.instance.stop(graceMs)
    await this.over
  }

  /** Lets go of it: it goes on without us. */
  async close(): Promise<void> {
    this.#letGo.abort()
    await this.over
    await this.#options.ingest.close()
  }

  async #live(): Promise<void> {
    const { instance, ingest, events, clock } = this.#options
    const isReady = await this.#becomeReady()
    this.#settle()
    if (isReady) await this.#watch()
    if (this.#letGo.signal.aborted) return
    const exit = await instance.exited
    await ingest.finish()
    const expected = this.#state === 'stopping' && !this.#isHung
    this.#state = 'gone'
    await events.gone(this, {
      exit,
      expected,
      wasReady: this.#readyAt !== undefined,
      hung: this.#isHung,
      words: ingest.lastWords,
      livedMs: clock() - (this.#readyAt ?? this.#begunAt),
    })
  }

  async #becomeReady(): Promise<boolean> {
    const { client, ingest, events, clock, startMs } = this.#options
    while (!this.#isOver) {
      const info = await client.info(this.socketPath).catch(() => undefined)
      if (info?.instanceId === this.id) {
        await ingest.catchUp()
        await events.joined(this, info.sessions)
        ingest.markReady()
        this.#readyAt = clock()
        this.#idleSince = this.#readyAt
        if (this.#state === 'starting') this.#state = 'ready'
        events.ready(this)
        return true
      }
      if (clock() - this.#begunAt > startMs) {
        await this.#giveUp()
        return false
      }
      ingest.wake()
      await this.#pause(READY_POLL_MS)
    }
    return false
  }

  async #watch(): Promise<void> {
    while (!this.#isOver) {
      const watching = new AbortController()
      const stop = (): void => watching.abort()
      this.#letGo.signal.addEventListener('abort', stop)
      let hasBeaten = false
      const timer = setInterval(() => {
        if (!hasBeaten) stop()
        hasBeaten = false
      }, HUNG_MS)
      const onBeat = (): void => {
        hasBeaten = true
        this.#options.ingest.wake()
      }
      await this.#options.client.watch(this.socketPath, onBeat, watching.signal).catch(() => {})
      clearInterval(timer)
      this.#letGo.signal.removeEventListener('abort', stop)
      if (watching.signal.aborted && !this.#isOver) return this.#giveUp()
      await this.#pause(REJOIN_MS)
    }
  }

  get #isOver(): boolean {
    return this.#exit !== undefined || this.#letGo.signal.aborted
  }

  /** It hangs, and is ended the hard way. */
  async #giveUp(): Promise<void> {
    this.#isHung = true
    await this.#options.instance.stop(0)
  }

  /** Waits, but not beyond the end. */
  async #pause(ms: number): Promise<void> {
    const enough = new AbortController()
    const { signal } = this.#letGo
    const stop = (): void => enough.abort()
    signal.addEventListener('abort', stop)
    const waiting = sleep(ms, undefined, { signal: enough.signal }).catch(() => {})
    await Promise.race([waiting, this.#options.instance.exited])
    enough.abort()
    signal.removeEventListener('abort', stop)
  }
}
