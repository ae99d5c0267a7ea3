import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionView } from '@botcli/protocol'
import type { Instance, InstanceExit } from '../engine/engine.ts'
import type { InstanceClient } from '../engine/instance-client.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { StoredInstance } from '../store/agents.ts'
import type { InstanceIngest } from './instance-ingest.ts'

const READY_POLL_MS = 25
const REJOIN_MS = 200
const RETRY_MS = 1000
/** How often it is asked for its sessions, beside what it tells. */
const COUNT_MS = 60_000
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
  /** Whether it is known how it ended; often it is not when that was while the cloud was away. */
  readonly isKnown: boolean
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
  /** Once in a while: these are its sessions. What it has told of the others may be lost. */
  counted(instance: HostedInstance, sessions: readonly SessionView[]): Promise<void>
  /** One of its places is free again. */
  released(instance: HostedInstance): void
  /** Nothing of it is left, and its journal was read to the end. */
  gone(instance: HostedInstance, end: InstanceEnd): Promise<void>
}

/** What an instance is hosted with. */
export interface HostedInstanceOptions {
  readonly stored: StoredInstance
  readonly instance: Instance
  readonly maxSessions: number
  /** The sessions that it had when it was found again; nothing if it was just started. */
  readonly found?: readonly string[] | undefined
  readonly client: InstanceClient
  readonly ingest: InstanceIngest
  /** How long it may take to become ready. */
  readonly startMs: number
  /** How long it gets to end. */
  readonly stopMs: number
  readonly events: HostedInstanceEvents
  readonly log: CloudLog
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
  /** Its processes are gone, or we let go. Somebody else may have its connections, so that these do not tell. */
  readonly #unwatched = new AbortController()
  /** As all times here that are compared: of a clock that nobody sets. */
  readonly #begunAt = performance.now()
  #exit: InstanceExit | undefined
  #state: InstanceState = 'starting'
  #readyAt: number | undefined
  #readySince: number | undefined
  #idleSince = this.#begunAt
  #isHung = false
  #isTrusted = true
  #countedAt = this.#begunAt
  #settle: () => void = () => {}

  constructor(options: HostedInstanceOptions) {
    this.stored = options.stored
    this.maxSessions = options.maxSessions
    this.#options = options
    this.#sessions = new Set(options.found)
    this.#readyAt = options.stored.readyAt ?? undefined
    if (this.#readyAt !== undefined) options.ingest.markReady()
    options.instance.exited.then((exit) => {
      this.#exit = exit
      this.#unwatched.abort()
    })
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.over = this.#live().catch((error: unknown) => {
      options.log.error('an instance is not looked after any more', { instanceId: this.id, error })
    })
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

  has(sessionId: string): boolean {
    return this.#sessions.has(sessionId)
  }

  get sessionIds(): readonly string[] {
    return [...this.#sessions]
  }

  /** How long it has been here. */
  get ageMs(): number {
    return performance.now() - this.#begunAt
  }

  /** Since when it has had none, by `performance.now()`. */
  get idleSince(): number {
    return this.#idleSince
  }

  get hasRoom(): boolean {
    return this.#state === 'ready' && this.#isTrusted && this.#sessions.size < this.maxSessions
  }

  /** It did not do what it was told: it gets no more sessions before it has said again which ones it has. */
  distrust(): void {
    this.#isTrusted = false
    this.#countedAt = Number.NEGATIVE_INFINITY
  }

  /** It is known again which sessions it has. */
  trust(): void {
    if (this.#isTrusted) return
    this.#isTrusted = true
    this.#options.events.released(this)
  }

  /** What it has told of its sessions may be lost, so that they are counted soon. */
  recount(): void {
    this.#countedAt = Number.NEGATIVE_INFINITY
  }

  /** Takes a place. */
  reserve(sessionId: string): void {
    this.#sessions.add(sessionId)
  }

  /** Gives a place back. */
  release(sessionId: string): void {
    if (!this.#sessions.delete(sessionId)) return
    if (this.#sessions.size === 0) this.#idleSince = performance.now()
    this.#options.events.released(this)
  }

  /** Resolves when what it has written down until now is in the log. */
  async logged(): Promise<void> {
    await this.#options.ingest.catchUp()
  }

  /** Ends it, and what is left of its sessions. An engine that cannot do it now is asked again, until it is gone or we let go. */
  async stop(graceMs: number = this.#options.stopMs): Promise<void> {
    if (this.#state !== 'gone') this.#state = 'stopping'
    await this.#insist(async () => {
      if (this.#exit === undefined) await this.#options.instance.stop(graceMs)
    })
    await this.over
  }

  /** Lets go of it: it goes on without us. */
  async close(): Promise<void> {
    this.#letGo.abort()
    this.#unwatched.abort()
    await Promise.all([this.over, this.#options.ingest.close()])
  }

  async #live(): Promise<void> {
    const { instance, ingest, events, found } = this.#options
    const isReady = await this.#becomeReady()
    this.#settle()
    if (isReady) await this.#watch()
    if (this.#letGo.signal.aborted) return
    const exit = await instance.exited
    const expected = this.#state === 'stopping' && !this.#isHung
    await this.#insist(() => ingest.finish())
    this.#state = 'gone'
    const end = {
      exit,
      expected,
      isKnown: found === undefined || exit.code !== null || exit.signal !== null,
      wasReady: this.#readyAt !== undefined,
      hung: this.#isHung,
      // One that hangs while it starts has seldom called anything an error.
      words: this.#isHung && this.#readyAt === undefined ? ingest.startWords : ingest.lastWords,
      livedMs: performance.now() - (this.#readySince ?? this.#begunAt),
    }
    await this.#insist(() => events.gone(this, end))
  }

  /** Does something again and again until it works: what is lost here would be a session in a false state. */
  async #insist(work: () => Promise<void>): Promise<void> {
    await this.#insistUntil(() => this.#letGo.signal.aborted, work)
  }

  /** The same for what has a sense only as long as it lives. Says whether it was done. */
  async #insistAlive(work: () => Promise<void>): Promise<boolean> {
    return this.#insistUntil(() => this.#isOver, work)
  }

  async #insistUntil(isVain: () => boolean, work: () => Promise<void>): Promise<boolean> {
    const { log } = this.#options
    while (!isVain()) {
      try {
        await work()
        return true
      } catch (error) {
        log.error('an instance could not be looked after; trying again', { instanceId: this.id, error })
        await sleep(RETRY_MS, undefined, { signal: this.#letGo.signal }).catch(() => {})
      }
    }
    return false
  }

  async #becomeReady(): Promise<boolean> {
    const { client, ingest, events, clock, startMs } = this.#options
    while (!this.#isOver) {
      const info = await client.info(this.socketPath).catch(() => undefined)
      if (info?.instanceId === this.id) {
        await this.#insistAlive(() => ingest.catchUp())
        const hasJoined = await this.#insistAlive(() => events.joined(this, info.sessions))
        if (!hasJoined || this.#letGo.signal.aborted) return false
        ingest.markReady()
        this.#readySince = performance.now()
        this.#idleSince = this.#readySince
        this.#readyAt ??= clock()
        if (this.#state === 'starting') this.#state = 'ready'
        events.ready(this)
        return true
      }
      if (this.ageMs > startMs) {
        await this.#giveUp()
        return false
      }
      ingest.wake()
      await this.#pause(READY_POLL_MS)
    }
    return false
  }

  async #watch(): Promise<void> {
    const { client, ingest } = this.#options
    let silentSince: number | undefined
    while (!this.#isOver) {
      const begun = performance.now()
      let hasBeaten = false
      const onBeat = (): void => {
        hasBeaten = true
        ingest.wake()
        this.#countNowAndThen()
      }
      await client.watch(this.socketPath, onBeat, this.#unwatched.signal).catch(() => {})
      // What counts are watches that began and ended in silence: a cloud that stood still itself has missed beats of one at most.
      silentSince = hasBeaten ? undefined : (silentSince ?? begun)
      if (
        silentSince !== undefined &&
        silentSince < begun &&
        performance.now() - silentSince >= HUNG_MS &&
        !this.#isOver
      )
        return this.#giveUp()
      await this.#pause(REJOIN_MS)
    }
  }

  #countNowAndThen(): void {
    const { client, events, log } = this.#options
    const now = performance.now()
    if (now - this.#countedAt < COUNT_MS) return
    this.#countedAt = now
    client
      .info(this.socketPath)
      .then(async ({ sessions }) => {
        await events.counted(this, sessions)
        this.trust()
      })
      .catch((error: unknown) =>
        log.warn('the sessions of an instance were not counted', { id: this.id, error }),
      )
  }

  get #isOver(): boolean {
    return this.#exit !== undefined || this.#letGo.signal.aborted
  }

  /** It hangs, and is ended the hard way. */
  async #giveUp(): Promise<void> {
    this.#isHung = true
    await this.#insistAlive(() => this.#options.instance.stop(0))
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
