import { randomUUID } from 'node:crypto'
import type { AgentLogStore } from '../agent-logs/agent-log-store.ts'
import type { CloudConfig } from '../config.ts'
import type { Instance } from '../engine/engine.ts'
import type { InstanceClient } from '../engine/instance-client.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { SecretService } from '../secrets/secret-service.ts'
import type { LiveSessions } from '../sessions/live-sessions.ts'
import type { StoredAgent, StoredDeployment, StoredInstance } from '../store/agents.ts'
import type { Store } from '../store/store.ts'
import { HostedInstance, type HostedInstanceEvents } from './hosted-instance.ts'
import { InstanceIngest } from './instance-ingest.ts'
import type { Launcher } from './launcher.ts'

/** What hosting takes. */
export interface InstanceHostOptions {
  readonly store: Store
  readonly launcher: Launcher
  readonly client: InstanceClient
  readonly live: LiveSessions
  readonly logs: AgentLogStore
  readonly secrets: SecretService
  readonly config: CloudConfig['agents']
  readonly log: CloudLog
  readonly clock: Clock
}

/** Starts instances, and finds those again that an earlier process has started. */
export class InstanceHost {
  readonly #options: InstanceHostOptions

  constructor(options: InstanceHostOptions) {
    this.#options = options
  }

  /**
   * Starts one. It is written down first, so that one whose start was not seen to the end is found again. Rejects, with nothing left of it,
   * if it is not wanted any more before it has a process.
   */
  async start(
    agent: StoredAgent,
    deployment: StoredDeployment,
    events: HostedInstanceEvents,
    unwanted: AbortSignal,
  ): Promise<HostedInstance> {
    const { store, launcher, clock } = this.#options
    const stored: StoredInstance = {
      id: randomUUID(),
      agentId: agent.id,
      deploymentId: deployment.id,
      createdAt: clock(),
      readyAt: null,
      endedAt: null,
    }
    await store.agents.addInstance(stored)
    try {
      const instance = await launcher.launch(agent, deployment, stored.id, unwanted)
      return this.#host(agent, deployment, stored, instance, events)
    } catch (error) {
      await this.forget(stored.id)
      throw error
    }
  }

  /** Finds one again. One of which nothing is left is written off, with its sessions. */
  async rejoin(
    agent: StoredAgent,
    deployment: StoredDeployment,
    stored: StoredInstance,
    events: HostedInstanceEvents,
  ): Promise<HostedInstance | undefined> {
    const { store, launcher, live } = this.#options
    const sessions = await store.sessions.open(stored.id)
    const instance = await launcher.find(stored.id)
    if (instance) {
      const hosted = this.#host(
        agent,
        deployment,
        stored,
        instance,
        events,
        sessions.map(({ id }) => id),
      )
      for (const session of sessions) live.add(session, hosted)
      return hosted
    }
    return this.writeOff(stored)
  }

  /** Nothing is left of an instance, or nothing can be known of it. */
  async writeOff({ id }: StoredInstance): Promise<undefined> {
    const { store, live } = this.#options
    for (const session of await store.sessions.open(id)) {
      await live.end(
        session.id,
        'instance_lost',
        'Nothing was left of its instance when the cloud came back.',
      )
    }
    await this.forget(id)
  }

  /** Removes what is on the disk of instances that count as ended, or are not known at all. */
  async removeLeftovers(open: ReadonlySet<string>): Promise<void> {
    const { launcher, log } = this.#options
    for (const instanceId of await launcher.list()) {
      if (open.has(instanceId)) continue
      await launcher.remove(instanceId).catch((error: unknown) => {
        log.warn('what an instance left was not removed', { instanceId, error })
      })
    }
  }

  /** An instance is gone for good. */
  async forget(instanceId: string): Promise<void> {
    const { store, launcher, log, clock } = this.#options
    await launcher.remove(instanceId).catch((error: unknown) => {
      log.warn('what an instance left was not removed', { instanceId, error })
    })
    await store.agents.instanceEnded(instanceId, clock())
  }

  #host(
    agent: StoredAgent,
    deployment: StoredDeployment,
    stored: StoredInstance,
    instance: Instance,
    events: HostedInstanceEvents,
    found?: readonly string[],
  ): HostedInstance {
    const { client, live, logs, secrets, config, log, clock } = this.#options
    const ingest = new InstanceIngest({
      agentId: agent.id,
      deploymentId: deployment.id,
      instanceId: stored.id,
      journalFolder: instance.journalFolder,
      outputPath: instance.outputPath,
      logs,
      redaction: () => secrets.redactionFor(agent.organizationId),
      onSession: (session) => live.note(stored.id, session),
      onLost: () => hosted.recount(),
      ...{ log, clock },
    })
    const hosted = new HostedInstance({
      ...{ stored, instance, found, client, ingest, events, log, clock },
      maxSessions: deployment.config.sessionsPerInstance,
      startMs: config.startSeconds * 1000,
      stopMs: config.stopSeconds * 1000,
    })
    return hosted
  }
}
