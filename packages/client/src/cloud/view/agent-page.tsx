import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../../view/icon.tsx'
import type { AgentsApi } from '../api/agents-api.ts'
import { AgentModel } from '../state/agent-model.ts'
import type { AgentPlace } from '../state/agent-route.ts'
import { shownAgent } from '../state/agent-words.ts'
import { hrefOf } from '../state/route.ts'
import type { Session } from '../state/session.ts'
import { countWords } from '../state/words.ts'
import { AgentLogView } from './agent-log-view.tsx'
import { AgentOverview } from './agent-overview.tsx'
import { AgentSessions } from './agent-sessions.tsx'
import { Badge, Trouble } from './parts.tsx'
import { Question } from './question.tsx'
import { TalkButton } from './talk-button.tsx'
import { useModel } from './use-model.ts'

/** The places that one agent has. */
export type AgentTab = Extract<AgentPlace, { name: 'agent' | 'agent-sessions' | 'agent-log' }>

interface AgentPageProps {
  readonly api: AgentsApi
  readonly session: Session
  readonly route: AgentTab
}

/** One agent: how it is, its sessions, its log. */
export function AgentPage({ api, session, route }: AgentPageProps): VNode {
  const { agent: name } = route
  const model = useModel(() => new AgentModel(api, name), [api, name])
  const [problem, setProblem] = useState<string>()
  const agent = model.agent.value
  return (
    <div class="build">
      <div class="heading">
        <div class="crumbs">
          <a href={hrefOf({ name: 'agents' })}>Agents</a>
          <h1 tabIndex={-1}>{name}</h1>
          {agent !== undefined && <Badge {...shownAgent(agent)} />}
        </div>
        {agent !== undefined && (
          <div class="heading-tools">
            <RemoveButton model={model} />
            <TalkButton agent={name} session={session} onProblem={setProblem} />
          </div>
        )}
      </div>
      <Trouble text={problem ?? model.problem.value} />
      {!model.gone.value && (
        <>
          <Tabs route={route} />
          {route.name === 'agent' && <AgentOverview model={model} />}
          {route.name === 'agent-sessions' && (
            <AgentSessions api={api} agent={name} status={route.status} model={model} />
          )}
          {route.name === 'agent-log' && (
            <AgentLogView api={api} agent={name} filter={route.filter} model={model} />
          )}
        </>
      )}
    </div>
  )
}

function Tabs({ route }: { readonly route: AgentTab }): VNode {
  const { agent } = route
  const tabs: readonly (readonly [string, AgentTab])[] = [
    ['Overview', { name: 'agent', agent }],
    ['Sessions', { name: 'agent-sessions', agent, status: undefined }],
    ['Log', { name: 'agent-log', agent, filter: {} }],
  ]
  return (
    <nav class="tabs" aria-label="Parts of the agent">
      {tabs.map(([title, tab]) => (
        <a key={tab.name} href={hrefOf(tab)} aria-current={tab.name === route.name ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}

function RemoveButton({ model }: { readonly model: AgentModel }): VNode {
  const [asking, setAsking] = useState(false)
  const sessions = model.agent.value?.activeSessionCount ?? 0
  return (
    <>
      <button type="button" class="button small" data-testid="remove-agent" onClick={() => setAsking(true)}>
        <Icon name="remove" />
        Delete
      </button>
      {asking && (
        <Question
          title={`Delete ${model.name}?`}
          yes={`Delete ${model.name}`}
          onYes={async () => {
            await model.remove()
            location.hash = hrefOf({ name: 'agents' })
          }}
          onClose={() => setAsking(false)}
        >
          <p>It takes no more sessions, and its sessions, deployments and log can no longer be looked at.</p>
          {sessions > 0 && (
            <p>
              <strong>{countWords(sessions, 'session')} will go on to the end, out of sight.</strong>
            </p>
          )}
        </Question>
      )}
    </>
  )
}
