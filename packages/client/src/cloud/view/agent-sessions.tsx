import { TRANSPORTS } from '@botcli/protocol'
import type { SessionRecord } from '@botcli/protocol/cloud'
import type { VNode } from 'preact'
import type { AgentsApi } from '../api/agents-api.ts'
import type { AgentModel } from '../state/agent-model.ts'
import type { SessionStatus } from '../state/agent-route.ts'
import { shortId, shownSession } from '../state/agent-words.ts'
import { hrefOf } from '../state/route.ts'
import { SessionsModel } from '../state/sessions-model.ts'
import { countWords, durationWords } from '../state/words.ts'
import { Ago, Badge, Command, Empty, Trouble } from './parts.tsx'
import { useModel, useNow } from './use-model.ts'

const FILTERS: readonly (readonly [string, SessionStatus | undefined])[] = [
  ['All', undefined],
  ['Running', 'active'],
  ['Ended', 'ended'],
]

interface AgentSessionsProps {
  readonly api: AgentsApi
  readonly agent: string
  readonly status: SessionStatus | undefined
  /** Knows the numbers of deployments. */
  readonly model: AgentModel
}

/** The sessions of an agent, the newest first. */
export function AgentSessions({ api, agent, status, model }: AgentSessionsProps): VNode {
  const list = useModel(() => new SessionsModel(api, agent, status), [api, agent, status])
  const sessions = list.sessions.value
  return (
    <>
      <div class="filter-row">
        <nav class="filters" aria-label="Which sessions">
          {FILTERS.map(([title, filter]) => (
            <a
              key={title}
              href={hrefOf({ name: 'agent-sessions', agent, status: filter })}
              aria-current={filter === status ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        {list.total.value > 0 && <span class="hint">{countWords(list.total.value, 'session')}</span>}
      </div>
      <Trouble text={list.problem.value} />
      <div class="card" aria-busy={sessions === undefined}>
        {sessions === undefined && <p class="loading">Loading sessions…</p>}
        {sessions?.length === 0 && <NoSessions agent={agent} status={status} />}
        {sessions !== undefined && sessions.length > 0 && (
          <SessionsTable sessions={sessions} agent={agent} model={model} />
        )}
      </div>
      {list.hasMore.value && (
        <div class="paging">
          <button
            type="button"
            class="button small"
            data-testid="more-sessions"
            disabled={list.loadingMore.value}
            onClick={() => void list.more()}
          >
            {list.loadingMore.value ? 'Loading…' : 'Show older sessions'}
          </button>
        </div>
      )}
    </>
  )
}

function NoSessions({ agent, status }: Pick<AgentSessionsProps, 'agent' | 'status'>): VNode {
  if (status === undefined) {
    return (
      <Empty title="Nobody has talked to this agent yet">
        <p>Press “Talk” to be the first, or run:</p>
        <Command text={`botcli session start ${agent}`} />
      </Empty>
    )
  }
  return (
    <Empty title={status === 'active' ? 'No session is running' : 'No session has ended yet'}>
      <a href={hrefOf({ name: 'agent-sessions', agent, status: undefined })}>Show all sessions</a>
    </Empty>
  )
}

interface SessionsTableProps {
  readonly sessions: readonly SessionRecord[]
  readonly agent: string
  readonly model: AgentModel
}

function SessionsTable({ sessions, agent, model }: SessionsTableProps): VNode {
  const now = useNow(sessions.some(({ state }) => state !== 'ended') ? 1_000 : 10_000)
  return (
    <table class="table leading" data-testid="sessions">
      <thead>
        <tr>
          <th scope="col">Session</th>
          <th scope="col">Outcome</th>
          <th scope="col">Started</th>
          <th scope="col">Duration</th>
          <th scope="col">Transport</th>
          <th scope="col">Deployment</th>
        </tr>
      </thead>
      <tbody>
        {sessions.map((session) => (
          <tr key={session.sessionId} data-testid="session-row">
            <td data-column="Session">
              <a
                class="row-link mono"
                href={hrefOf({ name: 'session', agent, sessionId: session.sessionId })}
                title={session.sessionId}
              >
                {shortId(session.sessionId)}
              </a>
            </td>
            <td data-column="Outcome">
              <Badge {...shownSession(session)} />
            </td>
            <td data-column="Started">
              <Ago at={session.createdAt} now={now} />
            </td>
            <td data-column="Duration">{lastedWords(session, now)}</td>
            <td data-column="Transport">{transportWords(session)}</td>
            <td data-column="Deployment">{model.numberOf(session.deploymentId) ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** How long somebody was there, or is until now. */
export function lastedWords({ connectedAt, endedAt, durationSeconds }: SessionRecord, now: number): string {
  if (connectedAt === null) return '–'
  if (endedAt !== null) return durationSeconds === null ? '–' : durationWords(durationSeconds)
  return durationWords(Math.max(0, Math.floor((now - Date.parse(connectedAt)) / 1000)))
}

/** How the caller came. */
export function transportWords({ transport }: SessionRecord): string {
  return transport === 'eval' ? 'Eval' : TRANSPORTS[transport].label
}
