import { setMaxListeners } from 'node:events'
import type { DeployFailure, InstanceRecord, RevisionInfo } from '@botcli/protocol/cloud'
import type { StartCounts, StoredDeployment } from '../store/agents.ts'
import { BackOff } from './back-off.ts'
import { endReport, failureOf, reasonOf, START_FAILED } from './deploy-failure.ts'
import type { HostedInstance, InstanceEnd } from './hosted-instance.ts'

/** A deployment that is not over, with its instances. */
export class Revision {
  #stored: StoredDeployment
  readonly #instances = new Map<string, HostedInstance>()
  /** Those that are gone, and of which not everything was said and written down yet. */
  readonly #leaving = new Set<string>()
  readonly #backOff = new BackOff()
  #starting = 0
  #started = 0
  #restarts = 0
  /** Instances that have ended by themselves and were not replaced yet. */
  #owed = 0
  #lastExitCode: number | null = null
  /** How the last one ended that ended by itself, as long as none has worked since. */
  #trouble: InstanceEnd | undefined
  #failure: DeployFailure | undefined
  #roomlessSince: number | undefined
  readonly #unwanted = new AbortController()
  readonly #now: () => number

  constructor(stored: StoredDeployment, now: () => number = () => performance.now()) {
    this.#stored = stored
    this.#now = now
    // As many starts may wait for their turns as the machine has places.
    setMaxListeners(0, this.#unwanted.signal)
  }

  get stored(): StoredDeployment {
    return this.#stored
  }

  get id(): string {
    return this.#stored.id
  }

  /** It is in another phase now. */
  enter(phase: StoredDeployment['phase'], at: number, failure: DeployFailure | null = null): void {
    this.#stored = { ...this.#stored, phase, phaseStartedAt: at, updatedAt: at, failure }
    if (phase === 'Draining' || phase === 'Failed') this.callOff()
  }

  /** Those that are not being stopped, and those that are just being started. */
  get size(): number {
    return this.#alive().length + this.#coming
  }

  /** Those too that are being stopped. */
  get total(): number {
    return this.#instances.size + this.#coming
  }

  /** Those that are being stopped. */
  get leaving(): number {
    return this.#instances.size - this.#alive().length
  }

  /** All of which something is left. */
  get all(): readonly HostedInstance[] {
    return [...this.#instances.values()]
  }

  get isEmpty(): boolean {
    return this.#instances.size + this.#starting + this.#leaving.size === 0
  }

  get ready(): number {
    return this.#alive().filter(({ state }) => state === 'ready').length
  }

  /** How many are on their way. */
  get starting(): number {
    return this.#coming + this.#alive().filter(({ state }) => state === 'starting').length
  }

  get isStarting(): boolean {
    return this.starting > 0
  }

  get sessions(): number {
    return this.all.reduce((sum, { sessions }) => sum + sessions, 0)
  }

  /** Why the last instance could not start; nothing once one could. */
  get failure(): DeployFailure | undefined {
    return this.#failure
  }

  /** Why it takes no sessions, in a word: its instances keep ending, or do not start. That it has none now is no fault. */
  get downReason(): string | undefined {
    return this.#down?.reason
  }

  get counts(): StartCounts {
    return { started: this.#started, restarts: this.#restarts }
  }

  /** When the next instance may be started, after one that has ended by itself: by `performance.now()`. */
  get notBefore(): number {
    return this.#backOff.notBefore
  }

  /** Since when the machine has had no room for the first instance, by `performance.now()`. */
  get roomlessSince(): number | undefined {
    return this.#roomlessSince
  }

  /** The machine has no room for the first instance; gives since when. */
  waitForRoom(): number {
    this.#roomlessSince ??= this.#now()
    return this.#roomlessSince
  }

  /** Aborted when no more instances of it are to be started. */
  get unwanted(): AbortSignal {
    return this.#unwanted.signal
  }

  /** Nothing more is started. What has no process yet gives its place back at once. */
  callOff(): void {
    this.#unwanted.abort()
  }

  /** The instance with most room, if any has some. */
  free(): HostedInstance | undefined {
    const free = this.all.filter(({ hasRoom }) => hasRoom)
    return free.reduce<HostedInstance | undefined>(
      (best, one) => (best === undefined || one.sessions < best.sessions ? one : best),
      undefined,
    )
  }

  /** Those without a session that take some, the longest idle first. */
  idle(): readonly HostedInstance[] {
    return this.#alive()
      .filter(({ sessions, state }) => sessions === 0 && state === 'ready')
      .toSorted((a, b) => a.idleSince - b.idleSince)
  }

  /** One is being started by this promise, or will be when its turn comes; it gives nothing if that was not wanted any more then. */
  starts(start: Promise<HostedInstance | undefined>): Promise<void> {
    this.#roomlessSince = undefined
    this.#starting += 1
    if (this.#owed > 0) {
      this.#owed -= 1
      this.#restarts += 1
    }
    this.#started += 1
    return start.then(
      (instance) => {
        this.#starting -= 1
        if (instance) this.add(instance)
      },
      (error: unknown) => {
        this.#starting -= 1
        const message = error instanceof Error ? error.message : String(error)
        this.#backOff.failed(this.#now(), 0)
        // How others ended before is not what keeps it from working now.
        this.#trouble = undefined
        this.#lastExitCode = null
        this.#failure = { code: 'DEPLOY-START-FAILED', message, detail: null, exitCode: null }
      },
    )
  }

  /** One is there. */
  add(instance: HostedInstance): void {
    if (instance.state !== 'gone') this.#instances.set(instance.id, instance)
  }

  /** One became ready, or is so still. */
  noteReady(): void {
    this.#failure = undefined
    this.#trouble = undefined
  }

  /** One is about to be stopped. If it is the last and has worked until now, what became of others before does not count. */
  noteStop({ state }: HostedInstance): void {
    if (state === 'ready' && this.size === 1) this.noteReady()
  }

  /** One is gone. It may be told twice, until it is forgotten. */
  noteGone(instance: HostedInstance, end: InstanceEnd, startSeconds: number): void {
    if (this.#leaving.has(instance.id)) return
    this.#leaving.add(instance.id)
    this.#instances.delete(instance.id)
    if (end.expected) return
    this.#trouble = end
    this.#lastExitCode = end.exit.code
    this.#owed += 1
    this.#backOff.failed(this.#now(), end.wasReady ? end.livedMs : 0)
    // Of one that was killed together with the cloud nothing follows for the bot.
    if (!end.wasReady && end.isKnown) this.#failure = failureOf(end, startSeconds)
  }

  /** Nothing is left to be said of one that is gone. */
  forget({ id }: HostedInstance): void {
    this.#leaving.delete(id)
  }

  info(): RevisionInfo {
    const { id, number, phase, phaseStartedAt, failure } = this.#stored
    const down = this.#down
    return {
      deploymentID: id,
      number,
      phase,
      readyReplicas: this.ready,
      phaseStartedAt: new Date(phaseStartedAt).toISOString(),
      health: {
        ready: this.ready > 0,
        state: this.ready > 0 ? 'running' : phase === 'Failed' ? 'terminated' : 'waiting',
        restartCount: this.#restarts,
        replicasStarted: this.#started,
        reason: down?.reason ?? null,
        lastExitCode: this.#lastExitCode,
        message: failure?.detail ?? (down?.message || null),
      },
    }
  }

  records(): readonly InstanceRecord[] {
    return this.all.map((instance) => ({
      id: instance.id,
      deploymentId: this.id,
      state: this.#stateOf(instance),
      sessions: instance.sessions,
      maxSessions: instance.maxSessions,
      startedAt: new Date(instance.stored.createdAt).toISOString(),
      readyAt: instance.readyAt === undefined ? null : new Date(instance.readyAt).toISOString(),
    }))
  }

  #stateOf({ state }: HostedInstance): InstanceRecord['state'] {
    if (state === 'starting') return 'starting'
    if (state === 'ready') return this.#stored.phase === 'Draining' ? 'draining' : 'ready'
    return 'stopping'
  }

  /**
   * What keeps it from taking sessions. An instance that ended once after it was ready is followed by another one when there is need. What
   * was a while ago is forgiven where nobody has needed another instance since.
   */
  get #down(): { readonly reason: string; readonly message: string } | undefined {
    const [end, failure, { failures }] = [this.#trouble, this.#failure, this.#backOff]
    if (this.ready > 0 || (this.isEmpty && this.#backOff.isForgiven(this.#now()))) return undefined
    if (end && (failure || failures > 1)) return { reason: reasonOf(end, failures), message: endReport(end) }
    return failure && { reason: START_FAILED, message: failure.message }
  }

  /** Those that are just being started. One that was called off will not come; if it has come all the same, it counts from then on. */
  get #coming(): number {
    return this.unwanted.aborted ? 0 : this.#starting
  }

  #alive(): readonly HostedInstance[] {
    return this.all.filter(({ state }) => state === 'starting' || state === 'ready')
  }
}
