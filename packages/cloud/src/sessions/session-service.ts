import type { SessionListResponse, SessionRecord } from '@botcli/protocol/cloud'
import { noAgent } from '../agents/place-refusal.ts'
import type { InstanceClient } from '../engine/instance-client.ts'
import { CloudError } from '../errors.ts'
import { cursorOf, placeOf } from '../list-cursor.ts'
import type { Clock } from '../log.ts'
import type { SessionFilter, StoredSession } from '../store/sessions.ts'
import type { Store } from '../store/store.ts'
import type { LiveSessions } from './live-sessions.ts'
import { sessionRecordOf } from './session-record.ts'

/** What a service needs. */
export interface SessionServiceOptions {
  readonly store: Store
  readonly live: LiveSessions
  readonly client: InstanceClient
  readonly clock: Clock
}

/** A page of the list of sessions. */
export interface SessionListRequest extends SessionFilter {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
}

/** Sessions, as the private API has them. */
export class SessionService {
  readonly #options: SessionServiceOptions

  constructor(options: SessionServiceOptions) {
    this.#options = options
  }

  async list(
    organizationId: string,
    agentName: string,
    { limit, offset, cursor, ...filter }: SessionListRequest,
  ): Promise<SessionListResponse> {
    const { store, clock } = this.#options
    const agent = await store.agents.latest(organizationId, agentName)
    if (!agent) throw noAgent(agentName)
    const before = cursor === undefined ? undefined : placeOf(cursor)
    const page = { limit: limit + 1, offset, before }
    const { sessions, total } = await store.sessions.list(agent.id, filter, page)
    const shown = sessions.slice(0, limit)
    const last = sessions.length > limit ? shown.at(-1) : undefined
    const now = clock()
    return {
      total_count: total,
      sessions: shown.map((session) => sessionRecordOf(session, now)),
      ...(last && { nextCursor: cursorOf(last) }),
    }
  }

  async get(organizationId: string, agentName: string, id: string): Promise<SessionRecord> {
    return sessionRecordOf(await this.#session(organizationId, agentName, id), this.#options.clock())
  }

  /** Whether a session is one of an agent, also one that is over. */
  async has(agentId: string, id: string): Promise<boolean> {
    return (await this.#options.store.sessions.find(agentId, id)) !== undefined
  }

  /** The record of a session of an agent that is over, with its log complete; nothing while it is not, or if there is none. */
  async ended(agentId: string, id: string): Promise<SessionRecord | undefined> {
    const session = await this.#options.store.sessions.find(agentId, id)
    return session?.state === 'ended' && !this.#options.live.isClosing(id)
      ? sessionRecordOf(session, this.#options.clock())
      : undefined
  }

  /** Ends a session at once. */
  async stop(organizationId: string, agentName: string, id: string): Promise<SessionRecord> {
    const { live, client } = this.#options
    const session = await this.#session(organizationId, agentName, id)
    const place = live.find(organizationId, agentName, id)
    if (session.state === 'ended' || !place) {
      throw new CloudError('CONFLICT', `The session is over already (${session.outcome?.cause ?? 'ended'}).`)
    }
    const view = await client.stop(place.socketPath, id).catch((cause: unknown) => {
      throw new CloudError(
        'DEPLOY-SESSION-FAILED',
        'The instance of the session does not answer. Try again.',
        {
          cause,
        },
      )
    })
    if (view) await live.note(session.instanceId, view)
    else await live.end(id, 'not_started', 'The instance did not know the session.')
    return this.get(organizationId, agentName, id)
  }

  async #session(organizationId: string, agentName: string, id: string): Promise<StoredSession> {
    const session = await this.#options.store.sessions.get(organizationId, id)
    if (session?.agentName === agentName) return session
    throw new CloudError('NOT_FOUND', `The agent ${agentName} has no session ${id}.`)
  }
}
