import type { AgentDetails, DeploymentRecord } from '@botcli/protocol/cloud'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../../view/icon.tsx'
import type { AgentModel } from '../state/agent-model.ts'
import { canRollBackTo, PHASES, reasonWords, shortId } from '../state/agent-words.ts'
import { hrefOf } from '../state/route.ts'
import { LastWords } from './agent-trouble.tsx'
import { Ago, Badge } from './parts.tsx'
import { Question } from './question.tsx'
import { useNow } from './use-model.ts'

interface DeploymentsCardProps {
  readonly model: AgentModel
  readonly agent: AgentDetails
}

/** All that ran and was to run, the newest first. */
export function DeploymentsCard({ model, agent }: DeploymentsCardProps): VNode | null {
  const now = useNow(10_000)
  const [target, setTarget] = useState<DeploymentRecord>()
  const list = model.deployments.value
  if (list === undefined) return null
  return (
    <section class="card" aria-labelledby="deployments-title">
      <h2 class="card-title" id="deployments-title">
        Deployments
        <small>{list.total}</small>
      </h2>
      <table class="table" data-testid="deployments">
        <thead>
          <tr>
            <th scope="col">Deployment</th>
            <th scope="col">State</th>
            <th scope="col">Why</th>
            <th scope="col">Build</th>
            <th scope="col">Created</th>
            <th scope="col">
              <span class="unseen">Roll back</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {list.deployments.map((deployment) => (
            <tr key={deployment.id} data-testid="deployment-row">
              <td data-column="Deployment">
                <a
                  class="row-link"
                  href={hrefOf({
                    name: 'agent-log',
                    agent: agent.name,
                    filter: { deploymentId: deployment.id },
                  })}
                  title={`The log of deployment ${deployment.id}`}
                >
                  #{deployment.number}
                </a>
              </td>
              <td data-column="State">
                <Badge {...PHASES[deployment.phase]} />
              </td>
              <td data-column="Why">
                {reasonWords(deployment, model.numberOf(deployment.sourceDeploymentId))}
                <Failure deployment={deployment} />
              </td>
              <td data-column="Build">
                {deployment.buildId === null ? (
                  <code class="image" title={deployment.image}>
                    {deployment.image}
                  </code>
                ) : (
                  <a href={hrefOf({ name: 'build', id: deployment.buildId, line: undefined })}>
                    <code>{shortId(deployment.buildId)}</code>
                  </a>
                )}
              </td>
              <td data-column="Created">
                <Ago at={deployment.createdAt} now={now} />
              </td>
              <td class="cell-tools">
                {canRollBackTo(deployment, agent) && (
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Roll back to #${deployment.number}`}
                    onClick={() => setTarget(deployment)}
                  >
                    <Icon name="back" />
                    Roll back to this
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {list.total > list.deployments.length && (
        <div class="card-more">
          <button type="button" class="button small" onClick={() => model.showMore()}>
            Show older deployments
          </button>
        </div>
      )}
      {target !== undefined && (
        <Question
          title={`Roll back to #${target.number}?`}
          yes={`Roll back to #${target.number}`}
          no="Never mind"
          onYes={() => model.rollBackTo(target)}
          onClose={() => setTarget(undefined)}
        >
          <p>
            A new deployment runs what #{target.number} ran, with the secrets of today. Sessions that run are
            not ended; they finish where they are.
          </p>
        </Question>
      )}
    </section>
  )
}

function Failure({ deployment: { failure } }: { readonly deployment: DeploymentRecord }): VNode | null {
  if (failure === null) return null
  return (
    <details class="deployment-failure">
      <summary>{failure.message}</summary>
      <LastWords failure={failure} />
    </details>
  )
}
