import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionView } from '@botcli/protocol'
import type { CloudConfig } from '../config.ts'
import type { InstanceClient } from '../engine/instance-client.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { LiveSessions } from '../sessions/live-sessions.ts'
import type { StoredAgent, StoredDeployment } from '../store/agents.ts'
import type { Store } from '../store/store.ts'
import type { AgentVoice } from './agent-voice.ts'
import { endWords, remedyOf } from './deploy-failure.ts'
import type { HostedInstance, HostedInstanceEvents, InstanceEnd } from './hosted-instance.ts'
import type { InstanceHost } from './instance-host.ts'
import type { MachineRoom, StartReason, Tenant } from './machine-room.ts'
import { Revision } from './revision.ts'
import type { StartTurns } from './start-turns.ts'

/** A session that began so long ago is known to its instance, if it is there at all; a younger one may be on its way there. */
const SETTLED_MS = 120_000
const LOST = 'Its instance does not know it any more, and how it ended was lost.'

/** Instances that were ready get so long to answer when the cloud comes back; who takes longer is taken up later. */
const ANSWER_MS = 3000
/** When all instances are to end, their engine gets so long beyond what they get themselves. */
const END_MS = 3000
/** When instances are let go, what is just being done with them gets so long to end. */
const CLOSE_MS = 5000

/** What a crew works with. */
export interface CrewOptions {
  readonly store: Store
  readonly host: InstanceHost
  readonly live: LiveSessions
  readonly client: InstanceClient
  readonly room: MachineRoom
  readonly turns: StartTurns
  readonly voice: AgentVoice
  readonly config: CloudConfig['agents']
  readonly log: CloudLog
  readonly clock: Clock
  /** For whom the machine has to have room, and whose callers may wait. */
  readonly tenant: Tenant & { readonly isAwaited: boolean }
  /** Called when an instance or a place has come or gone. */
  readonly onChange: () => void
}

/** All instances of an agent, by their deployments: how they come, and what their going means. What is wanted, others decide. */
export class Crew {
  readonly #options: CrewOptions
  readonly #revisions = new Map<string, Revision>()
  readonly #events: HostedInstanceEvents
  /** Instances that are being started, and are in no revision yet. */
  readonly #starts = new Set<Promise<void>>()
  /** Sessions for which an instance was asked in vain the last time. */
  readonly #unheard = new WeakMap<HostedInstance, ReadonlySet<string>>()

  constructor(options: CrewOptions) {
    this.#options = options
    this.#events = {
      joined: (instance, sessions) => this.#onJoined(instance, sessions),
      ready: (instance) => this.#onReady(instance),
      counted: (instance, sessions) => this.#onCounted(instance, sessions),
      released: () => options.onChange(),
      gone: (instance, end) => this.#onGone(instance, end),
    }
  }

  /** Finds what an earlier process has left running of an agent. */
  async rejoin(agent: StoredAgent): Promise<void> {
    const { store, host, live, log } = this.#options
    for (const deployment of await store.agents.openDeployments(agent.id)) this.add(deployment)
    for (const stored of await store.agents.openInstances(agent.id)) {
      const revision = this.get(stored.deploymentId) ?? (await this.#revive(agent, stored.deploymentId))
      if (!revision) continue
      // One that cannot be looked at must not keep all others from being found.
      const hosted = await host
        .rejoin(agent, revision.stored, stored, this.#events)
        .catch((error: unknown) => {
          log.error('an instance could not be found again and is written off', {
            instanceId: stored.id,
            error,
          })
          return host.writeOff(stored)
        })
      if (hosted) revision.add(hosted)
    }
    const known = new Set(this.instances.map(({ id }) => id))
    const open = await store.sessions.openOf(agent.id)
    // Those whose instance was written off before they were.
    const lost = open.filter(({ instanceId }) => !known.has(instanceId))
    for (const { id } of lost) await live.end(id, 'instance_lost', 'Its instance has ended.')
    await this.#answers()
  }

  /** Until then nobody knows which sessions still wait for their callers, and there is no warm place for a new one. */
  async #answers(): Promise<void> {
    const wasReady = this.instances.filter(({ stored }) => stored.readyAt !== null)
    await within(ANSWER_MS, Promise.all(wasReady.map(({ settled }) => settled)))
  }

  get revisions(): readonly Revision[] {
    return [...this.#revisions.values()]
  }

  get instances(): readonly HostedInstance[] {
    return this.revisions.flatMap((revision) => revision.all)
  }

  /** How many instances there are, in whatever state. */
  get size(): number {
    return this.revisions.reduce((sum, { total }) => sum + total, 0)
  }

  /** How many of them are being stopped. */
  get leaving(): number {
    return this.revisions.reduce((sum, { leaving }) => sum + leaving, 0)
  }

  get sessions(): number {
    return this.revisions.reduce((sum, { sessions }) => sum + sessions, 0)
  }

  get(deploymentId: string | null): Revision | undefined {
    return this.#revisions.get(deploymentId ?? '')
  }

  add(deployment: StoredDeployment): Revision {
    const revision = new Revision(deployment)
    // The places of its starts are free, and others may wait for them.
    revision.unwanted.addEventListener('abort', () => this.#options.room.notify(), { once: true })
    this.#revisions.set(deployment.id, revision)
    return revision
  }

  /** Nothing is left of a deployment. */
  remove({ id }: Revision): void {
    this.#revisions.delete(id)
  }

  /** Starts an instance, if the machine has room for it now; otherwise gives no, and the tenant is told when it may have. */
  start(agent: StoredAgent, revision: Revision, why: StartReason): boolean {
    const { room, tenant } = this.#options
    if (revision.unwanted.aborted || !room.enter(tenant, why)) return false
    const added = revision.starts(this.#inTurn(agent, revision)).then(() => {
      this.#starts.delete(added)
      // This one looks again, and others too: it may have come to nothing.
      room.notify()
    })
    this.#starts.add(added)
    return true
  }

  async #inTurn(agent: StoredAgent, revision: Revision): Promise<HostedInstance | undefined> {
    const { host, turns, tenant } = this.#options
    const starter = {
      organizationId: agent.organizationId,
      isAwaited: () => tenant.isAwaited && revision.stored.phase === 'Active',
    }
    const turn = await turns.take(starter, revision.unwanted)
    if (!turn) return undefined
    if (revision.unwanted.aborted) {
      turn.end()
      return undefined
    }
    const start = host.start(agent, revision.stored, this.#events, revision.unwanted)
    void start
      .then(({ settled }) => settled)
      .catch(() => {})
      .finally(() => turn.end())
    return start.catch((error: unknown) => {
      // That one was called off says nothing about the bot.
      if (revision.unwanted.aborted) return undefined
      throw error
    })
  }

  /** Starts nothing more, of no deployment. */
  callOff(): void {
    for (const revision of this.revisions) revision.callOff()
  }

  stop(instance: HostedInstance, why: string): void {
    const { id, stored } = instance
    const text = `Instance ${short(id)} is stopped: ${why}.`
    this.#options.voice.say(stored.deploymentId, text, { instanceId: id })
    this.get(stored.deploymentId)?.noteStop(instance)
    void instance.stop()
  }

  /** Lets go of all instances; they go on. What has no process yet is called off, and started by the next start of the cloud. */
  async close(): Promise<void> {
    this.callOff()
    await within(
      CLOSE_MS,
      this.#forAll((instance) => instance.close()),
    )
  }

  /** Ends all instances, with their sessions. One that an engine cannot end is left to the next start of the cloud. */
  async end(graceMs: number): Promise<void> {
    this.callOff()
    await within(
      graceMs + END_MS,
      this.#forAll((instance) => instance.stop(graceMs)),
    )
  }

  /** Does something with all instances: at once with those that are there, later with those whose start could not be called off any more. */
  async #forAll(work: (instance: HostedInstance) => Promise<void>): Promise<void> {
    const there = this.instances
    const late = Promise.all(this.#starts).then(() =>
      Promise.all(this.instances.filter((instance) => !there.includes(instance)).map(work)),
    )
    await Promise.all([...there.map(work), late])
  }

  /** Sessions that an instance that was found again does not know were never begun there; whose caller is not there yet can still come. */
  async #onJoined(instance: HostedInstance, sessions: readonly SessionView[]): Promise<void> {
    for (const { sessionId, state } of sessions) if (state === 'waiting') this.#options.live.reopen(sessionId)
    const { live } = this.#options
    for (const id of await this.#unknown(instance, sessions)) {
      if (live.hasBegun(id)) await live.end(id, 'instance_lost', LOST)
      else await live.end(id, 'not_started', 'The cloud ended before the session could begin.')
    }
  }

  /** Sessions whose end was told, but never heard: the disk of the instance was full, or its journal too long. */
  async #onCounted(instance: HostedInstance, sessions: readonly SessionView[]): Promise<void> {
    const { live, clock, client, log } = this.#options
    await live.endAgain(instance.sessionIds).catch(() => instance.recount())
    const unknown = sessions.filter(({ sessionId, state }) => !instance.has(sessionId) && state !== 'ended')
    for (const { sessionId } of unknown) {
      log.warn('an instance has a session that nobody was told of; it is stopped', { sessionId })
      await client.stop(instance.socketPath, sessionId)
    }
    for (const id of await this.#unknown(instance, sessions)) {
      if (live.isOlder(id, clock() - SETTLED_MS)) await live.end(id, 'instance_lost', LOST)
    }
  }

  /**
   * Which sessions of an instance it does not know. Of those that it has not counted because they are over, it is asked how they ended. One
   * for which it has no answer keeps its place until it is asked again, and is nobody's hindrance; twice in a row is as good as not known.
   */
  async #unknown(instance: HostedInstance, counted: readonly SessionView[]): Promise<readonly string[]> {
    const { live, client, log } = this.#options
    const known = new Set(counted.map(({ sessionId }) => sessionId))
    const before = this.#unheard.get(instance)
    const unheard = new Set<string>()
    const ask = async (
      id: string,
    ): Promise<{ readonly id: string; readonly view?: SessionView | undefined }> => {
      try {
        return { id, view: await client.session(instance.socketPath, id) }
      } catch (error) {
        log.warn('an instance did not say how a session is', {
          instanceId: instance.id,
          sessionId: id,
          error,
        })
        unheard.add(id)
        return { id }
      }
    }
    // All at once: of one that hangs they are over at the same time.
    const answers = await Promise.all(instance.sessionIds.filter((id) => !known.has(id)).map(ask))
    this.#unheard.set(instance, unheard)
    for (const { view } of answers) if (view) await live.note(instance.id, view)
    return answers
      .filter(({ id, view }) => view === undefined && (!unheard.has(id) || before?.has(id)))
      .map(({ id }) => id)
  }

  #onReady({ id, stored, ageMs }: HostedInstance): void {
    const { store, voice, clock, log, onChange } = this.#options
    this.get(stored.deploymentId)?.noteReady()
    if (stored.readyAt === null) {
      const text = `Instance ${short(id)} is ready after ${(ageMs / 1000).toFixed(1)} s.`
      voice.say(stored.deploymentId, text, { instanceId: id })
      store.agents.instanceReady(id, clock()).catch((error: unknown) => {
        log.warn('that an instance is ready was not noted', { instanceId: id, error })
      })
    }
    onChange()
  }

  async #onGone(instance: HostedInstance, end: InstanceEnd): Promise<void> {
    const { live, host, room, voice, config, log, onChange } = this.#options
    const { id, stored } = instance
    const revision = this.get(stored.deploymentId)
    revision?.noteGone(instance, end, config.startSeconds)
    await live.endAgain(instance.sessionIds)
    for (const sessionId of instance.sessionIds) {
      await live.end(sessionId, 'instance_lost', `Its instance ${endWords(end)}.${remedyOf(end)}`)
    }
    await host.forget(id)
    if (!end.expected) {
      const when = end.wasReady ? '' : ' before it was ready'
      const text = `Instance ${short(id)} ${endWords(end)}${when}.${remedyOf(end)}`
      voice.say(stored.deploymentId, text, { level: 'error', instanceId: id })
      log.warn('an instance ended by itself', { instanceId: id, ...end.exit })
    }
    // Not before: the log of a removed agent goes with the last of its deployments.
    revision?.forget(instance)
    room.notify()
    onChange()
  }

  /** A deployment that counts as over, though an instance of it is left. */
  async #revive(agent: StoredAgent, deploymentId: string): Promise<Revision | undefined> {
    const stored = await this.#options.store.agents.deployment(agent.id, deploymentId)
    return stored && this.add(stored)
  }
}

function short(id: string): string {
  return id.slice(0, 8)
}

/** Waits for something, so long at most. */
async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  const enough = new AbortController()
  const limit = sleep(limitMs, undefined, { signal: enough.signal }).catch(() => {})
  await Promise.race([work, limit]).finally(() => enough.abort())
}
