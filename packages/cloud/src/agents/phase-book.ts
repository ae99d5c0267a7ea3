import type { DeployFailure } from '@botcli/protocol/cloud'
import type { Clock, CloudLog } from '../log.ts'
import type { StoredAgent } from '../store/agents.ts'
import type { Store } from '../store/store.ts'
import type { AgentVoice } from './agent-voice.ts'
import { standingWords, superseded } from './deploy-failure.ts'
import type { Revision } from './revision.ts'

/** What phases are written down with. */
export interface PhaseBookOptions {
  readonly store: Store
  readonly voice: AgentVoice
  readonly log: CloudLog
  readonly clock: Clock
}

/** In which phases the deployments of an agent are: each is written down first, and then told in the agent's log. */
export class PhaseBook {
  readonly #options: PhaseBookOptions

  constructor(options: PhaseBookOptions) {
    this.#options = options
  }

  /** A deployment is being rolled out. */
  async begin(revision: Revision): Promise<void> {
    const { store, voice, clock } = this.#options
    const at = clock()
    await store.agents.setPhase(revision.id, 'Validating', at)
    revision.enter('Validating', at)
    voice.say(revision.id, `Deployment ${revision.stored.number} is being rolled out.`)
  }

  /** A deployment is to take the sessions, in place of the one before. */
  async activate(
    agent: StoredAgent,
    revision: Revision,
    before: Revision | undefined,
    onWritten: (at: number) => void,
  ): Promise<void> {
    const { store, voice, log, clock } = this.#options
    const at = clock()
    await store.agents.activate(agent.id, revision.id, at)
    // In one step: nobody may find an agent whose active deployment takes no sessions.
    onWritten(at)
    revision.enter('Active', at)
    before?.enter('Draining', at)
    const { number } = revision.stored
    const draining =
      before && ` Deployment ${before.stored.number} takes no more; ${finishing(before.sessions)} on it.`
    voice.say(revision.id, `Deployment ${number} is active and takes the sessions.${draining ?? ''}`)
    log.info('a deployment is active', { agent: agent.name, deployment: number })
  }

  /** A deployment has come to nothing; another one may be active. */
  async fail(
    agent: StoredAgent,
    revision: Revision,
    failure: DeployFailure,
    active: Revision | undefined,
  ): Promise<void> {
    const { store, voice, log, clock } = this.#options
    const at = clock()
    await store.agents.setPhase(revision.id, 'Failed', at, failure, revision.counts)
    revision.enter('Failed', at, failure)
    const stays = active && ` Deployment ${active.stored.number} ${standingWords(active.downReason)}.`
    const text = `Deployment ${revision.stored.number} failed: ${ended(failure.message)}${stays ?? ''}`
    voice.say(revision.id, text, { level: 'error' })
    log.warn('a deployment failed', { agent: agent.name, code: failure.code, why: failure.message })
  }

  /** Nothing is left of a deployment. */
  async retire(agent: StoredAgent, revision: Revision, active: Revision | undefined): Promise<void> {
    const { store, voice, clock } = this.#options
    const { phase, number } = revision.stored
    if (phase === 'Failed') return
    const isUnfinished = phase === 'Creating' || phase === 'Validating'
    // Its successor was made, and then the cloud ended before it could be given up.
    if (isUnfinished && agent.deletedAt === null) {
      return this.fail(agent, revision, superseded('A later deployment'), active)
    }
    await store.agents.setPhase(revision.id, 'Retired', clock())
    const end = isUnfinished ? 'was not ready when its agent was removed' : 'is retired'
    voice.say(revision.id, `Deployment ${number} ${end}.`)
  }
}

function finishing(sessions: number): string {
  return sessions === 1 ? '1 session finishes' : `${sessions} sessions finish`
}

/** What engines say has not always an end that something can follow. */
function ended(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`
}
