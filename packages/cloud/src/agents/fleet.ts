import type { SessionView } from '@botcli/protocol'
import type { DeployFailure, InstanceRecord, RevisionInfo } from '@botcli/protocol/cloud'
import type { AgentLogStore } from '../agent-logs/agent-log-store.ts'
import type { CloudConfig } from '../config.ts'
import { CloudError } from '../errors.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { LiveSessions } from '../sessions/live-sessions.ts'
import type { StoredAgent, StoredDeployment } from '../store/agents.ts'
import type { Store } from '../store/store.ts'
import { AgentVoice } from './agent-voice.ts'
import { endWords } from './deploy-failure.ts'
import type { HostedInstance, HostedInstanceEvents, InstanceEnd } from './hosted-instance.ts'
import type { InstanceHost } from './instance-host.ts'
import type { MachineRoom } from './machine-room.ts'
import { Revision } from './revision.ts'
import { wantedInstances } from './scaling.ts'
import { WaitingLine } from './waiting-line.ts'

const RETRY_SECONDS = 5
/** A caller waits so long for an instance: less than what proxies and our own server take for a dead connection. */
const LONGEST_WAIT_MS = 45_000
/** What could not be written is tried again after so long. */
const TROUBLED_MS = 1000

/** What a fleet works with. */
export interface FleetOptions {
  readonly store: Store
  readonly host: InstanceHost
  readonly live: LiveSessions
  readonly room: MachineRoom
  readonly logs: AgentLogStore
  readonly config: CloudConfig['agents']
  readonly log: CloudLog
  readonly clock: Clock
  /** Called when nothing is left of an agent that was removed. */
  readonly onEmpty: (agentId: string) => void
}

/** A place for a session. */
export interface Place {
  readonly instance: HostedInstance
  readonly deployment: StoredDeployment
  readonly agent: StoredAgent
  /** Whether an instance had to become ready first. */
  readonly coldStart: boolean
}

/** How an agent does, for those who ask. */
export interface FleetView {
  readonly sessions: number
  readonly revisions: readonly RevisionInfo[]
  readonly instances: readonly InstanceRecord[]
}

/**
 * The instances of one agent, over all of its deployments. It compares what is there with what is wanted whenever something has changed:
 * rolls a new deployment out, drains the one before, keeps the wanted number of instances, and gives sessions their places.
 */
export class Fleet {
  #agent: StoredAgent
  readonly #options: FleetOptions
  readonly #voice: AgentVoice
  readonly #revisions = new Map<string, Revision>()
  readonly #waiting = new WaitingLine<HostedInstance>()
  readonly #events: HostedInstanceEvents
  /** Instances that are being started, and are in no revision yet. */
  readonly #starts = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined
  #isDirty = false
  #isClosed = false

  private constructor(agent: StoredAgent, options: FleetOptions) {
    const { logs, log, clock } = options
    this.#agent = agent
    this.#options = options
    this.#voice = new AgentVoice(agent.id, logs, log, clock)
    this.#events = {
      joined: (instance, sessions) => this.#onJoined(instance, sessions),
      ready: (instance) => this.#onReady(instance),
      released: () => this.wake(),
      gone: (instance, end) => this.#onGone(instance, end),
    }
  }

  /** Opens the fleet of an agent, with the instances that an earlier process has left running. */
  static async open(agent: StoredAgent, options: FleetOptions): Promise<Fleet> {
    const { store, host, clock } = options
    const fleet = new Fleet(agent, options)
    for (const deployment of await store.agents.openDeployments(agent.id)) {
      fleet.#revisions.set(deployment.id, new Revision(deployment, clock))
    }
    for (const stored of await store.agents.openInstances(agent.id)) {
      const revision = fleet.#revisions.get(stored.deploymentId) ?? (await fleet.#revive(stored.deploymentId))
      if (!revision) continue
      const hosted = await host.rejoin(agent, revision.stored, stored, fleet.#events)
      if (hosted) revision.add(hosted)
    }
    // Those whose instance was written off before they were.
    const lost = (await store.sessions.openOf(agent.id)).filter(
      ({ instanceId }) => !fleet.#instance(instanceId),
    )
    for (const { id } of lost) await options.live.end(id, 'instance_lost', 'Its instance has ended.')
    fleet.wake()
    return fleet
  }

  get agent(): StoredAgent {
    return this.#agent
  }

  /** Sessions on all instances, and callers that wait for one. */
  get sessions(): number {
    return this.#sum((revision) => revision.sessions) + this.#waiting.length
  }

  get view(): FleetView {
    const revisions = [...this.#revisions.values()]
    return {
      sessions: this.sessions,
      revisions: revisions.map((revision) => revision.info()),
      instances: revisions.flatMap((revision) => revision.records()),
    }
  }

  /** A place for a session, which holds it until it is over. Refuses when the agent has all the sessions that it may have. */
  async place(sessionId: string): Promise<Place> {
    const active = this.#active
    if (!active || this.#agent.deletedAt !== null) throw this.#notReady()
    const { sessionsPerInstance } = active.stored.config
    const most = this.#agent.maxAgents * sessionsPerInstance
    if (this.sessions >= most) throw atCapacity(`The agent has all ${most} sessions that it may have.`)
    const free = active.free()
    if (free) {
      free.reserve(sessionId)
      this.wake()
      return { instance: free, deployment: active.stored, agent: this.#agent, coldStart: false }
    }
    if (!active.isStarting && !this.#options.room.hasRoom(this)) {
      throw atCapacity('The machine has all the instances that it may have.')
    }
    const limitMs = Math.min(LONGEST_WAIT_MS, this.#options.config.startSeconds * 1000)
    const waiting = this.#waiting.wait(sessionId, limitMs)
    this.wake()
    const instance = await waiting
    const revision = this.#revisions.get(instance.stored.deploymentId) ?? active
    return { instance, deployment: revision.stored, agent: this.#agent, coldStart: true }
  }

  /** Rolls a new deployment out. One that was not ready yet is given up for it. */
  async deploy(agent: StoredAgent, deployment: StoredDeployment): Promise<void> {
    const given = this.#candidate
    this.#agent = agent
    this.#revisions.set(deployment.id, new Revision(deployment, this.#options.clock))
    if (given) {
      const message = `Deployment ${deployment.number} was made before it was ready.`
      await this.#fail(given, { code: 'DEPLOY-SUPERSEDED', message, detail: null, exitCode: null })
    }
    this.wake()
  }

  /** The agent has other limits now, or is to be gone: then its sessions may end, and nothing new begins. */
  change(agent: StoredAgent): void {
    this.#agent = agent
    if (agent.deletedAt !== null) this.#waiting.refuse(this.#notReady())
    this.wake()
  }

  /** Whether an instance is there that nobody needs now. */
  get canYield(): boolean {
    return this.#spare !== undefined
  }

  /** Stops an instance that nobody needs now. */
  yieldIdle(): void {
    if (this.#spare) this.#stop(this.#spare, 'a caller of another agent needs its place')
  }

  /** Looks again at what is there and what is wanted. */
  wake(): void {
    this.#isDirty = true
    if (this.#isClosed) return
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
      if (this.#isDirty) this.wake()
    })
  }

  /** Lets go of the instances; they go on. */
  async close(): Promise<void> {
    await this.#halt()
    await Promise.all(this.#all().map((instance) => instance.close()))
  }

  /** Ends all instances, with their sessions. */
  async end(graceMs: number): Promise<void> {
    await this.#halt()
    await Promise.all(this.#all().map((instance) => instance.stop(graceMs)))
  }

  async #halt(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#waiting.refuse(new CloudError('UNAVAILABLE', 'The cloud is stopping. Try again when it is back.'))
    await this.#working
    await Promise.all(this.#starts)
  }

  async #work(): Promise<void> {
    const { log } = this.#options
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false
      try {
        await this.#compare()
      } catch (error) {
        log.error('an agent could not be looked after; trying again', { agent: this.#agent.name, error })
        this.#lookAgainAt(this.#options.clock() + TROUBLED_MS)
        return
      }
    }
  }

  async #compare(): Promise<void> {
    const isRemoved = this.#agent.deletedAt !== null
    const candidate = this.#candidate
    if (candidate && !isRemoved) await this.#rollOut(candidate)
    for (const revision of [...this.#revisions.values()]) {
      const isLeft = isRemoved || (revision !== this.#active && revision !== this.#candidate)
      if (isLeft) await this.#drain(revision)
    }
    const active = this.#active
    if (active && !isRemoved) this.#scale(active)
    if (isRemoved && this.#revisions.size === 0) this.#options.onEmpty(this.#agent.id)
  }

  /** The deployment that takes sessions. */
  get #active(): Revision | undefined {
    return this.#revisions.get(this.#agent.activeDeploymentId ?? '')
  }

  /** The deployment that is to take them. */
  get #candidate(): Revision | undefined {
    const desired = this.#revisions.get(this.#agent.desiredDeploymentId)
    const isDecided = desired?.stored.phase === 'Failed' || desired?.id === this.#agent.activeDeploymentId
    return isDecided ? undefined : desired
  }

  async #rollOut(candidate: Revision): Promise<void> {
    const { store, clock } = this.#options
    const { minAgents, maxAgents } = this.#agent
    const target = Math.max(1, Math.min(minAgents, maxAgents))
    if (candidate.failure !== undefined) return this.#fail(candidate, candidate.failure)
    if (candidate.ready >= target) return this.#activate(candidate)
    if (candidate.stored.phase === 'Creating') {
      const at = clock()
      await store.agents.setPhase(candidate.id, 'Validating', at)
      candidate.enter('Validating', at)
      this.#voice.say(candidate.id, `Deployment ${candidate.stored.number} is being rolled out.`)
    }
    for (let size = candidate.size; size < target; size += 1)
      this.#start(candidate, size === 0 ? 'deployment' : 'reserve')
  }

  async #activate(revision: Revision): Promise<void> {
    const { store, clock, log } = this.#options
    const before = this.#active
    const at = clock()
    await store.agents.activate(this.#agent.id, revision.id, at)
    this.#agent = { ...this.#agent, activeDeploymentId: revision.id, updatedAt: at }
    revision.enter('Active', at)
    before?.enter('Draining', at)
    const { number } = revision.stored
    const left = before === undefined ? 0 : before.sessions
    const draining =
      before && ` Deployment ${before.stored.number} takes no more; ${count(left)} finish on it.`
    this.#voice.say(revision.id, `Deployment ${number} is active and takes the sessions.${draining ?? ''}`)
    log.info('a deployment is active', { agent: this.#agent.name, deployment: number })
    this.#isDirty = true
  }

  async #fail(revision: Revision, failure: DeployFailure): Promise<void> {
    const { store, clock, log } = this.#options
    const at = clock()
    await store.agents.setPhase(revision.id, 'Failed', at, failure)
    revision.enter('Failed', at, failure)
    const active = this.#active
    const stays = active && ` Deployment ${active.stored.number} still takes the sessions.`
    const text = `Deployment ${revision.stored.number} failed: ${failure.message}${stays ?? ''}`
    this.#voice.say(revision.id, text, { level: 'error' })
    log.warn('a deployment failed', { agent: this.#agent.name, code: failure.code, why: failure.message })
    this.#isDirty = true
  }

  /** Stops what has no session, and lets go of the deployment when nothing is left of it. */
  async #drain(revision: Revision): Promise<void> {
    for (const instance of revision.all) {
      if (instance.sessions === 0 && instance.state !== 'stopping') this.#stop(instance, 'it is not needed')
    }
    if (!revision.isEmpty) return
    const { store, clock } = this.#options
    this.#revisions.delete(revision.id)
    if (revision.stored.phase === 'Failed') return
    await store.agents.setPhase(revision.id, 'Retired', clock())
    this.#voice.say(revision.id, `Deployment ${revision.stored.number} is retired.`)
  }

  #scale(active: Revision): void {
    const { config, clock } = this.#options
    const now = clock()
    this.#waiting.serve((sessionId) => {
      const free = active.free()
      free?.reserve(sessionId)
      return free
    })
    const { minAgents, maxAgents } = this.#agent
    const callers = active.sessions + this.#waiting.length
    const wanted = wantedInstances({
      ...{ minAgents, maxAgents },
      sessionsPerInstance: active.stored.config.sessionsPerInstance,
      sessions: callers,
    })
    if (active.size < wanted) {
      if (active.notBefore > now) {
        if (active.failure && !active.isStarting) this.#waiting.refuse(startFailed(active.failure))
        this.#lookAgainAt(active.notBefore)
      } else {
        for (let size = active.size; size < wanted; size += 1)
          this.#start(
            active,
            size * active.stored.config.sessionsPerInstance < callers ? 'caller' : 'reserve',
          )
      }
    }
    let surplus = active.size - wanted
    for (const instance of active.idle()) {
      if (surplus <= 0) break
      const until = active.size > maxAgents ? 0 : instance.idleSince + config.idleSeconds * 1000
      if (until <= now) {
        this.#stop(instance, 'it was idle')
        surplus -= 1
      } else {
        this.#lookAgainAt(until)
        break
      }
    }
  }

  #start(revision: Revision, why: 'reserve' | 'caller' | 'deployment'): void {
    const { host, room } = this.#options
    if (!room.enter(this, why)) return
    const start = host.start(this.#agent, revision.stored, this.#events)
    void start
      .then(({ settled }) => settled)
      .catch(() => {})
      .finally(() => room.leave())
    const added = revision.starts(start).then(() => {
      this.#starts.delete(added)
      this.wake()
    })
    this.#starts.add(added)
  }

  #stop(instance: HostedInstance, why: string): void {
    this.#voice.say(instance.stored.deploymentId, `Instance ${short(instance.id)} is stopped: ${why}.`, {
      instanceId: instance.id,
    })
    instance.stop().catch((error: unknown) => {
      this.#options.log.warn('an instance could not be stopped', { instanceId: instance.id, error })
    })
  }

  /** Sessions that an instance that was found again does not know were never begun there. */
  async #onJoined(instance: HostedInstance, sessions: readonly SessionView[]): Promise<void> {
    const known = new Set(sessions.map(({ sessionId }) => sessionId))
    const missing = instance.sessionIds.filter((id) => !known.has(id))
    const message = 'The cloud ended before the session could begin.'
    for (const id of missing) await this.#options.live.end(id, 'not_started', message)
  }

  #onReady(instance: HostedInstance): void {
    const { store, clock, log } = this.#options
    this.#revisions.get(instance.stored.deploymentId)?.noteReady()
    const at = clock()
    if (instance.stored.readyAt === null) {
      const seconds = ((at - instance.stored.createdAt) / 1000).toFixed(1)
      const text = `Instance ${short(instance.id)} is ready after ${seconds} s.`
      this.#voice.say(instance.stored.deploymentId, text, { instanceId: instance.id })
      store.agents.instanceReady(instance.id, at).catch((error: unknown) => {
        log.warn('that an instance is ready was not noted', { instanceId: instance.id, error })
      })
    }
    this.wake()
  }

  async #onGone(instance: HostedInstance, end: InstanceEnd): Promise<void> {
    const { live, host, config, log } = this.#options
    const { deploymentId } = instance.stored
    this.#revisions.get(deploymentId)?.noteGone(instance, end, config.startSeconds)
    for (const id of instance.sessionIds) {
      await live.end(id, 'instance_lost', `Its instance ${endWords(end)}.`)
    }
    await host.forget(instance.id)
    if (!end.expected) {
      const text = `Instance ${short(instance.id)} ${endWords(end)}${end.wasReady ? '' : ' before it was ready'}.`
      this.#voice.say(deploymentId, text, { level: 'error', instanceId: instance.id })
      log.warn('an instance ended by itself', {
        agent: this.#agent.name,
        instanceId: instance.id,
        ...end.exit,
      })
    }
    this.#options.room.notify()
    this.wake()
  }

  /** A deployment that counts as over, though an instance of it is left. */
  async #revive(deploymentId: string): Promise<Revision | undefined> {
    const { store, clock } = this.#options
    const stored = await store.agents.deployment(this.#agent.id, deploymentId)
    if (!stored) return undefined
    const revision = new Revision(stored, clock)
    this.#revisions.set(deploymentId, revision)
    return revision
  }

  /** An instance above the minimum without a session. */
  get #spare(): HostedInstance | undefined {
    const active = this.#active
    return active && active.size > this.#agent.minAgents ? active.idle()[0] : undefined
  }

  #notReady(): CloudError {
    const { name } = this.#agent
    const candidate = this.#candidate
    const why = candidate
      ? 'Its first deployment is not ready yet. Try again in a moment.'
      : 'No deployment of it has become active. See what went wrong: botcli agent get'
    return new CloudError('DEPLOY-NOT-READY', `The agent ${name} takes no sessions now. ${why}`, {
      retryAfterSeconds: RETRY_SECONDS,
    })
  }

  #lookAgainAt(time: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.wake(), Math.max(10, time - this.#options.clock()))
  }

  #all(): readonly HostedInstance[] {
    return [...this.#revisions.values()].flatMap((revision) => revision.all)
  }

  #instance(id: string): HostedInstance | undefined {
    return this.#all().find((instance) => instance.id === id)
  }

  #sum(of: (revision: Revision) => number): number {
    return [...this.#revisions.values()].reduce((sum, revision) => sum + of(revision), 0)
  }

  /** How many instances there are, in whatever state. */
  get size(): number {
    return this.#sum((revision) => Math.max(revision.all.length, revision.size))
  }
}

function atCapacity(message: string): CloudError {
  return new CloudError('DEPLOY-AT-CAPACITY', `${message} Try again later.`, {
    retryAfterSeconds: RETRY_SECONDS,
  })
}

function startFailed({ message }: DeployFailure): CloudError {
  return new CloudError('DEPLOY-START-FAILED', message)
}

function count(sessions: number): string {
  return sessions === 1 ? '1 session' : `${sessions} sessions`
}

function short(id: string): string {
  return id.slice(0, 8)
}
