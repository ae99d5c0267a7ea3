import { randomUUID } from 'node:crypto'
import { isCarrier, type StartRequest } from '@botcli/protocol'
import { type PublicStartResponse, publicStartResponse } from '@botcli/protocol/cloud'
import type { Place } from '../agents/fleet.ts'
import type { Fleets } from '../agents/fleets.ts'
import { noAgent } from '../agents/place-refusal.ts'
import type { InstanceClient } from '../engine/instance-client.ts'
import { CloudError } from '../errors.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { StoredSession } from '../store/sessions.ts'
import type { Store } from '../store/store.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { SessionTokens } from './session-tokens.ts'
import { refusalOf } from './start-refusal.ts'

const startAnswer = publicStartResponse.partial().loose()

/** Of the time after which a caller that heard nothing is let go: when it has a place at the latest. */
const PLACE_SHARE = 0.75
/** When it has an answer, whatever that is. */
const ANSWER_SHARE = 0.9

/** What starting needs. */
export interface StartServiceOptions {
  readonly store: Store
  readonly fleets: Fleets
  readonly live: LiveSessions
  readonly tokens: SessionTokens
  readonly client: InstanceClient
  readonly log: CloudLog
  readonly clock: Clock
  /** A caller that hears nothing for so long is let go by the server. */
  readonly idleMs: number
}

/** How a caller reached us. */
export interface StartCaller {
  /** Such as `https://cloud.example.com`. */
  readonly origin: string
  /** What of its headers an instance has to see. */
  readonly headers: Readonly<Record<string, string>>
  /** Aborted when it does not wait for the answer any more. */
  readonly gone: AbortSignal
}

/** Starts sessions: a place first, then the session at the instance that has it. */
export class StartService {
  readonly #options: StartServiceOptions

  constructor(options: StartServiceOptions) {
    this.#options = options
  }

  async start(
    organizationId: string,
    agentName: string,
    request: StartRequest,
    caller: StartCaller,
  ): Promise<PublicStartResponse> {
    const { store, fleets, idleMs } = this.#options
    const begun = performance.now()
    const agent = await store.agents.get(organizationId, agentName)
    if (!agent) throw noAgent(agentName)
    const sessionId = randomUUID()
    const place = await fleets.of(agent.id).place(sessionId, idleMs * PLACE_SHARE, caller.gone)
    try {
      const answer = await this.#begin(sessionId, place, request, caller, begun)
      if (caller.gone.aborted)
        throw new CloudError('INVALID_REQUEST', 'The caller left before its session could begin.')
      return answer
    } catch (error) {
      await this.#undo(sessionId, place, error)
      throw error
    }
  }

  /** A session that nobody was told of must not be left at its instance, whatever became of it there. */
  async #undo(sessionId: string, { instance }: Place, error: unknown): Promise<void> {
    const { live, client, log } = this.#options
    const message = error instanceof Error ? error.message : String(error)
    // Not waited for: it may hang. Until it has heard, or was asked for its sessions, it gets no new ones.
    instance.distrust()
    client.stop(instance.socketPath, sessionId).then(
      () => instance.trust(),
      () => {},
    )
    await live
      .end(sessionId, 'not_started', message)
      .catch((failure: unknown) =>
        log.warn('a session that did not begin could not be ended', { sessionId, error: failure }),
      )
    // If that could not be written down, it keeps its place, and is ended when the instance's sessions are counted, which is soon.
    if (live.has(sessionId)) instance.recount()
    else instance.release(sessionId)
  }

  async #begin(
    sessionId: string,
    { instance, deployment, agent, coldStart }: Place,
    request: StartRequest,
    caller: StartCaller,
    begun: number,
  ): Promise<PublicStartResponse> {
    const { store, live, client, clock, idleMs } = this.#options
    const { transport = 'webrtc' } = request
    const createdAt = clock() - Math.round(performance.now() - begun)
    const session: StoredSession = {
      ...{ id: sessionId, organizationId: agent.organizationId, agentId: agent.id, agentName: agent.name },
      ...{ deploymentId: deployment.id, instanceId: instance.id, transport, state: 'starting', coldStart },
      ...{ startMs: null, tokenUsed: false, outcome: null, createdAt, updatedAt: createdAt },
      ...{ connectedAt: null, endedAt: null },
    }
    await store.sessions.create(session)
    live.add(session, instance)
    const limitMs = begun + idleMs * ANSWER_SHARE - performance.now()
    const answer = await client
      .start(instance.socketPath, sessionId, { ...request, transport }, caller.headers, limitMs)
      .catch((cause: unknown) => {
        const message = 'The instance ended, or did not answer, when the session was to begin. Try again.'
        throw new CloudError('DEPLOY-SESSION-FAILED', message, { cause })
      })
    if (answer.status !== 200) throw refusalOf(answer)
    const { iceConfig, roomUrl, roomToken } = startAnswer.parse(answer.body)
    await store.sessions.started(sessionId, Math.round(performance.now() - begun), clock())
    return {
      sessionId,
      ...(iceConfig && { iceConfig }),
      ...(roomUrl !== undefined && { roomUrl }),
      ...(roomToken !== undefined && { roomToken }),
      ...this.#websocket(session, caller),
    }
  }

  /** Where the WebSocket of a session is, for transports that have one. The token is part of the path: carriers drop queries. */
  #websocket({ id, agentName, transport }: StoredSession, { origin }: StartCaller): { wsUrl?: string } {
    const isCall = isCarrier(transport)
    if (!isCall && transport !== 'websocket') return {}
    const token = this.#options.tokens.tokenOf(id)
    const base = `${origin.replace(/^http/, 'ws')}/v1/public/${agentName}/sessions/${id}/${token}`
    return { wsUrl: `${base}/${isCall ? 'ws' : 'ws-client'}` }
  }
}
