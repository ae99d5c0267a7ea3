import type { AgentDetails } from '@botcli/protocol/cloud'
import type { VNode } from 'preact'
import type { AgentModel } from '../state/agent-model.ts'
import { INSTANCE_STATES, shortId } from '../state/agent-words.ts'
import { hrefOf } from '../state/route.ts'
import { Ago, Badge } from './parts.tsx'
import { useNow } from './use-model.ts'

interface InstancesCardProps {
  readonly model: AgentModel
  readonly agent: AgentDetails
}

/** The processes that run the bot, and how many sessions each has. */
export function InstancesCard({ model, agent }: InstancesCardProps): VNode {
  const now = useNow(10_000)
  const { instances, name } = agent
  return (
    <section class="card" aria-labelledby="instances-title">
      <h2 class="card-title" id="instances-title">
        Instances
        <small>{instances.length}</small>
      </h2>
      {instances.length === 0 ? (
        <p class="card-note hint" data-testid="no-instances">
          {agent.available
            ? 'None runs now. The next session starts one, which takes a moment.'
            : 'None runs now.'}
        </p>
      ) : (
        <table class="table" data-testid="instances">
          <thead>
            <tr>
              <th scope="col">Instance</th>
              <th scope="col">State</th>
              <th scope="col">Sessions</th>
              <th scope="col">Deployment</th>
              <th scope="col">Started</th>
            </tr>
          </thead>
          <tbody>
            {instances.map(({ id, state, sessions, maxSessions, deploymentId, startedAt }) => (
              <tr key={id} data-testid="instance-row">
                <td data-column="Instance">
                  <a
                    class="row-link mono"
                    href={hrefOf({ name: 'agent-log', agent: name, filter: { instanceId: id } })}
                    title={`The log of instance ${id}`}
                  >
                    {shortId(id)}
                  </a>
                </td>
                <td data-column="State">
                  <Badge {...INSTANCE_STATES[state]} />
                </td>
                <td data-column="Sessions">
                  {sessions} of {maxSessions}
                </td>
                <td data-column="Deployment">{model.numberOf(deploymentId) ?? '–'}</td>
                <td data-column="Started">
                  <Ago at={startedAt} now={now} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
