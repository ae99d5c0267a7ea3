import type { AgentListItem } from '@botcli/protocol/cloud'
import type { VNode } from 'preact'
import type { AgentsApi } from '../api/agents-api.ts'
import { shownAgent } from '../state/agent-words.ts'
import { AgentsModel } from '../state/agents-model.ts'
import { hrefOf } from '../state/route.ts'
import { countWords } from '../state/words.ts'
import { Ago, Badge, Command, Empty, Heading, Trouble } from './parts.tsx'
import { useModel, useNow } from './use-model.ts'

interface AgentsViewProps {
  readonly api: AgentsApi
}

/** All agents, by name. */
export function AgentsView({ api }: AgentsViewProps): VNode {
  const model = useModel(() => new AgentsModel(api), [api])
  const list = model.list.value
  return (
    <>
      <Heading title="Agents">
        {list !== undefined && list.length > 0 && (
          <span class="hint">{countWords(list.length, 'agent')}</span>
        )}
      </Heading>
      <Trouble text={model.problem.value} />
      <div class="card" aria-busy={list === undefined}>
        {list === undefined && <p class="loading">Loading agents…</p>}
        {list?.length === 0 && (
          <Empty title="There are no agents yet">
            <p>An agent is a bot that runs here. Run this in the folder of yours:</p>
            <Command text="botcli deploy" />
          </Empty>
        )}
        {list !== undefined && list.length > 0 && <AgentsTable list={list} />}
      </div>
    </>
  )
}

function AgentsTable({ list }: { readonly list: readonly AgentListItem[] }): VNode {
  const now = useNow(10_000)
  return (
    <table class="table leading" data-testid="agents">
      <thead>
        <tr>
          <th scope="col">Agent</th>
          <th scope="col">State</th>
          <th scope="col">Sessions</th>
          <th scope="col">Instances</th>
          <th scope="col">Deployment</th>
          <th scope="col">Updated</th>
        </tr>
      </thead>
      <tbody>
        {list.map((agent) => (
          <tr key={agent.id} data-testid="agent-row">
            <td data-column="Agent">
              <a class="row-link" href={hrefOf({ name: 'agent', agent: agent.name })}>
                {agent.name}
              </a>
            </td>
            <td data-column="State">
              <Badge {...shownAgent(agent)} />
            </td>
            <td class="cell-whole" data-column="Sessions">
              {sessionsWords(agent)}
            </td>
            <td data-column="Instances">{agent.instanceCount ?? '–'}</td>
            <td data-column="Deployment">{agent.deployment == null ? '–' : `#${agent.deployment.number}`}</td>
            <td data-column="Updated">
              <Ago at={agent.updatedAt} now={now} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function sessionsWords({ activeSessionCount, maxSessionCount }: AgentListItem): string {
  return maxSessionCount === undefined
    ? String(activeSessionCount)
    : `${activeSessionCount} of ${maxSessionCount}`
}
