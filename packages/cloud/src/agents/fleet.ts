import type { DeployFailure, InstanceRecord, RevisionInfo } from '@botcli/protocol/cloud'
import type { AgentLogStore } from '../agent-logs/agent-log-store.ts'
import type { StoredAgent, StoredDeployment } from '../store/agents.ts'
import { AgentVoice } from './agent-voice.ts'
import { Crew, type CrewOptions } from './crew.ts'
import { noRoomFor, superseded } from './deploy-failure.ts'
import type { HostedInstance } from './hosted-instance.ts'
import type { StartReason, Tenant, UrgentReason } from './machine-room.ts'
import { NextLook } from './next-look.ts'
import { PhaseBook } from './phase-book.ts'
import {
  agentFull,
  machineFull,
  noAgent,
  notInTime,
  notReady,
  startFailed,
  stopping,
} from './place-refusal.ts'
import type { Revision } from './revision.ts'
import { wantedInstances } from './scaling.ts'
import { WaitingLine } from './waiting-line.ts'

/** What could not be written is tried again after so long. */
const TROUBLED_MS = 1000

/** What a fleet works with. */
export interface FleetOptions extends Omit<CrewOptions, 'voice' | 'tenant' | 'onChange'> {
  readonly logs: AgentLogStore
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
 * What is wanted of the instances of one agent. It compares that with what is there whenever something has changed: rolls a new deployment
 * out, drains the one before, keeps the wanted number of instances, and gives sessions their places.
 */
export class Fleet implements Tenant {
  #agent: StoredAgent
  readonly #options: FleetOptions
  readonly #voice: AgentVoice
  readonly #crew: Crew
  readonly #phases: PhaseBook
  readonly #waiting = new WaitingLine<HostedInstance>()
  readonly #nextLook = new NextLook(() => this.wake())
  #working: Promise<void> | undefined
  #isDirty = false
  /** Whether something could not be started for which others have to make room. */
  #lacksRoom = false
  /** Before that, what is there is not known, and nothing can be compared. */
  #isOpen = false
  #isClosed = false

  constructor(agent: StoredAgent, options: FleetOptions) {
    const { logs, log, clock } = options
    this.#agent = agent
    this.#options = options
    this.#voice = new AgentVoice(agent.id, logs, log, clock)
    this.#phases = new PhaseBook({ ...options, voice: this.#voice })
    this.#crew = new Crew({ ...options, voice: this.#voice, tenant: this, onChange: () => this.wake() })
  }

  /** Finds the instances that an earlier process has left running. */
  async rejoin(): Promise<void> {
    await this.#crew.rejoin(this.#agent)
  }

  /** Goes on with what it was about. */
  open(): void {
    this.#isOpen = true
    this.wake()
  }

  get agent(): StoredAgent {
    return this.#agent
  }

  /** Sessions on all instances, and callers that wait for one. */
  get sessions(): number {
    return this.#crew.sessions + this.#waiting.length
  }

  /** How many instances there are, in whatever state. */
  get size(): number {
    return this.#crew.size
  }

  /** How many of them are being stopped. */
  get leaving(): number {
    return this.#crew.leaving
  }

  /** Whether there are instances of more than one deployment. */
  get isReplacing(): boolean {
    return this.#crew.revisions.filter(({ total }) => total > 0).length > 1
  }

  get view(): FleetView {
    const { revisions } = this.#crew
    return {
      sessions: this.sessions,
      revisions: revisions.map((revision) => revision.info()),
      instances: revisions.flatMap((revision) => revision.records()),
    }
  }

  /**
   * A place for a session, which holds it until it is over. Refuses when the agent has all the sessions that it may have, and when no instance
   * becomes ready in time.
   */
  async place(sessionId: string, longestMs: number, gone: AbortSignal): Promise<Place> {
    if (this.#isClosed) throw stopping()
    const active = this.#active
    if (this.#agent.deletedAt !== null) throw noAgent(this.#agent.name)
    if (!active) throw notReady(this.#agent.name, { isRollingOut: this.#candidate !== undefined })
    const { sessionsPerInstance } = active.stored.config
    const most = this.#agent.maxAgents * sessionsPerInstance
    if (this.sessions >= most) throw agentFull(most)
    const free = active.free()
    if (free) {
      free.reserve(sessionId)
      this.wake()
      return { instance: free, deployment: active.stored, agent: this.#agent, coldStart: false }
    }
    // Who is in the line already gets the places that are on their way.
    const missing = Math.ceil((this.#waiting.length + 1) / sessionsPerInstance) - active.starting
    const { startSeconds, maxInstances } = this.#options.config
    if (missing > 0 && !this.#options.room.hasRoom(this, missing)) throw machineFull(maxInstances)
    const limitMs = Math.min(longestMs, startSeconds * 1000)
    const tooLate = () => (this.#lacksRoom ? machineFull(maxInstances) : notInTime(limitMs))
    const waiting = this.#waiting.wait(sessionId, { limitMs, tooLate, gone })
    this.#options.turns.look()
    this.wake()
    // Who left needs no instance any more, and no place for one.
    const instance = await waiting.finally(() => this.wake())
    const revision = this.#crew.get(instance.stored.deploymentId) ?? active
    return { instance, deployment: revision.stored, agent: this.#agent, coldStart: true }
  }

  /** Rolls a new deployment out. One that was not ready yet is given up for it. */
  async deploy(deployment: StoredDeployment): Promise<void> {
    // One that is just becoming active must not be given up in the middle of that.
    while (this.#working) await this.#working
    const given = this.#candidate
    this.#agent = { ...this.#agent, desiredDeploymentId: deployment.id, updatedAt: deployment.createdAt }
    this.#crew.add(deployment)
    try {
      if (given) await this.#fail(given, superseded(`Deployment ${deployment.number}`))
    } finally {
      this.wake()
    }
  }

  /** The agent has other limits now, or is to be gone: then its sessions may end, and nothing new begins. */
  change(agent: StoredAgent): void {
    this.#agent = agent
    if (agent.deletedAt !== null) {
      this.#waiting.refuse(noAgent(agent.name))
      this.#crew.callOff()
    }
    this.wake()
  }

  /** Whether a caller waits for an instance. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0
  }

  /** How many instances above the minimum have no session, and no caller who is about to get them. */
  get spare(): number {
    const active = this.#active
    if (!active || this.isAwaited) return 0
    return Math.max(0, Math.min(active.size - this.#agent.minAgents, active.idle().length))
  }

  /** Stops an instance that nobody needs now. */
  yieldIdle(why: UrgentReason): void {
    const [longest] = this.spare > 0 ? (this.#active?.idle() ?? []) : []
    if (longest) this.#crew.stop(longest, `a ${why} of another agent needs its place`)
  }

  /** Looks again at what is there and what is wanted. */
  wake(): void {
    this.#isDirty = true
    if (this.#isClosed || !this.#isOpen) return
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
      if (this.#isDirty) this.wake()
    })
  }

  /** Lets go of the instances; they go on. */
  async close(): Promise<void> {
    await this.#halt()
    await this.#crew.close()
  }

  /** Ends all instances, with their sessions. */
  async end(graceMs: number): Promise<void> {
    await this.#halt()
    await this.#crew.end(graceMs)
  }

  async #halt(): Promise<void> {
    this.#isClosed = true
    this.#nextLook.close()
    this.#waiting.refuse(stopping())
    await this.#working
  }

  async #work(): Promise<void> {
    const { log } = this.#options
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false
      try {
        await this.#compare()
      } catch (error) {
        log.error('an agent could not be looked after; trying again', { agent: this.#agent.name, error })
        this.#nextLook.at(performance.now() + TROUBLED_MS)
        return
      }
    }
  }

  async #compare(): Promise<void> {
    const { room, onEmpty } = this.#options
    this.#lacksRoom = false
    const isRemoved = this.#agent.deletedAt !== null
    const candidate = this.#candidate
    if (candidate && !isRemoved) await this.#rollOut(candidate)
    for (const revision of this.#crew.revisions) {
      const isLeft = isRemoved || (revision !== this.#active && revision !== this.#candidate)
      if (isLeft) await this.#drain(revision)
    }
    const active = this.#active
    if (active && !isRemoved) this.#scale(active)
    if (!this.#lacksRoom) room.leave(this)
    if (this.spare > 0) room.offer(this)
    if (isRemoved && this.#crew.revisions.length === 0) onEmpty(this.#agent.id)
  }

  /** The deployment that takes sessions. */
  get #active(): Revision | undefined {
    return this.#crew.get(this.#agent.activeDeploymentId)
  }

  /** The deployment that is to take them. */
  get #candidate(): Revision | undefined {
    const desired = this.#crew.get(this.#agent.desiredDeploymentId)
    const isDecided = desired?.stored.phase === 'Failed' || desired?.id === this.#agent.activeDeploymentId
    return isDecided ? undefined : desired
  }

  async #rollOut(candidate: Revision): Promise<void> {
    const { minAgents, maxAgents } = this.#agent
    const target = Math.max(1, Math.min(minAgents, maxAgents))
    if (candidate.failure !== undefined) return this.#fail(candidate, candidate.failure)
    if (candidate.ready >= target) return this.#activate(candidate)
    if (candidate.stored.phase === 'Creating') await this.#phases.begin(candidate)
    for (let size = candidate.size; size < target; size += 1)
      this.#start(candidate, size === 0 ? 'deployment' : 'reserve')
    if (candidate.size === 0) return this.#waitForRoom(candidate)
    // A machine that is full has no more now: what is ready has to do, and those of before make room.
    if (candidate.ready > 0 && !candidate.isStarting) return this.#activate(candidate)
  }

  /** The machine is full. A deployment of an agent that takes sessions can wait; for a first one nobody stands in. */
  async #waitForRoom(candidate: Revision): Promise<void> {
    const { startSeconds } = this.#options.config
    if (candidate.roomlessSince === undefined) {
      const text = `Deployment ${candidate.stored.number} waits: the machine has all the instances that it may have (agents.maxInstances).`
      this.#voice.say(candidate.id, text, { level: 'warn' })
    }
    const until = candidate.waitForRoom() + startSeconds * 1000
    if (this.#active) return
    if (until <= performance.now()) return this.#fail(candidate, noRoomFor(startSeconds))
    this.#nextLook.at(until)
  }

  async #activate(revision: Revision): Promise<void> {
    await this.#phases.activate(this.#agent, revision, this.#active, (updatedAt) => {
      this.#agent = { ...this.#agent, activeDeploymentId: revision.id, updatedAt }
    })
    this.#isDirty = true
  }

  async #fail(revision: Revision, failure: DeployFailure): Promise<void> {
    await this.#phases.fail(this.#agent, revision, failure, this.#active)
    this.#isDirty = true
  }

  /** Stops what has no session, and lets go of the deployment when nothing is left of it. */
  async #drain(revision: Revision): Promise<void> {
    for (const instance of revision.all) {
      if (instance.sessions === 0 && instance.state !== 'stopping')
        this.#crew.stop(instance, 'it is not needed')
    }
    if (!revision.isEmpty) return
    await this.#phases.retire(this.#agent, revision, this.#active)
    // Not before: what could not be written is tried again.
    this.#crew.remove(revision)
  }

  #scale(active: Revision): void {
    const { config } = this.#options
    const now = performance.now()
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
        this.#nextLook.at(active.notBefore)
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
        this.#crew.stop(instance, 'it was idle')
        surplus -= 1
      } else {
        this.#nextLook.at(until)
        break
      }
    }
  }

  #start(revision: Revision, why: StartReason): void {
    const isStarted = this.#crew.start(this.#agent, revision, why)
    if (!isStarted && why !== 'reserve') this.#lacksRoom = true
  }
}
