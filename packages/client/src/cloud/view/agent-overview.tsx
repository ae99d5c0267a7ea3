import type { AgentDetails } from '@botcli/protocol/cloud'
import type { VNode } from 'preact'
import type { AgentModel } from '../state/agent-model.ts'
import { hrefOf } from '../state/route.ts'
import { durationWords } from '../state/words.ts'
import { AgentTrouble } from './agent-trouble.tsx'
import { DeploymentsCard } from './deployments-card.tsx'
import { InstancesCard } from './instances-card.tsx'
import { Ago, Fact } from './parts.tsx'
import { ScalingForm } from './scaling-form.tsx'
import { useNow } from './use-model.ts'

interface AgentOverviewProps {
  readonly model: AgentModel
}

/** How an agent is, what runs, and what ran before. */
export function AgentOverview({ model }: AgentOverviewProps): VNode {
  const agent = model.agent.value
  if (agent === undefined) {
    return (
      <div class="card" aria-busy="true">
        <p class="loading">Loading the agent…</p>
      </div>
    )
  }
  return (
    <>
      <AgentTrouble agent={agent} />
      <Facts model={model} agent={agent} />
      <InstancesCard model={model} agent={agent} />
      <ScalingForm key={scalingKey(agent)} model={model} agent={agent} />
      <DeploymentsCard model={model} agent={agent} />
    </>
  )
}

/** Fields show what holds; when somebody else changes it, they begin anew. */
function scalingKey({ autoScaling }: AgentDetails): string {
  return `${autoScaling.minReplicas} ${autoScaling.maxReplicas}`
}

interface FactsProps extends AgentOverviewProps {
  readonly agent: AgentDetails
}

function Facts({ model, agent }: FactsProps): VNode {
  const now = useNow(10_000)
  const { deployment } = agent
  return (
    <dl class="card facts" data-testid="facts">
      <Fact name="Sessions">
        <a href={hrefOf({ name: 'agent-sessions', agent: agent.name, status: 'active' })}>
          {agent.activeSessionCount} of {model.maxSessions.value}
        </a>
      </Fact>
      <Fact name="Active deployment">{activeWords(agent)}</Fact>
      <Fact name="Region">{agent.region}</Fact>
      <Fact name="Profile">{agent.agentProfile}</Fact>
      <Fact name="Session limit">{durationWords(deployment.maxSessionDuration)}</Fact>
      <Fact name="Sessions an instance">{deployment.sessionsPerInstance}</Fact>
      <Fact name="Secrets">
        {deployment.secretSet === null ? (
          'None'
        ) : (
          <a href={hrefOf({ name: 'secret-set', set: deployment.secretSet })}>{deployment.secretSet}</a>
        )}
      </Fact>
      {agent.noiseFilter.audioFilter !== null && (
        <Fact name="Noise filter">{agent.noiseFilter.audioFilter}</Fact>
      )}
      <Fact name="Updated">
        <Ago at={agent.updatedAt} now={now} />
      </Fact>
    </dl>
  )
}

function activeWords({ activeDeploymentId, currentRevision, previousRevision }: AgentDetails): string {
  if (activeDeploymentId === null) return 'None'
  const revision = [currentRevision, previousRevision].find((one) => one?.deploymentID === activeDeploymentId)
  return revision == null ? activeDeploymentId.slice(0, 8) : `#${revision.number}`
}
