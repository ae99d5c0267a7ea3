import { isDeepStrictEqual } from 'node:util'
import type { DeploymentConfig, StoredAgent, StoredDeployment } from '../store/agents.ts'
import type { Store } from '../store/store.ts'

/** Later deployments among which it is looked for what was tried. */
const MOST_LATER = 200

/**
 * What an agent has to be deployed with again because secrets of it have changed since; nothing if it has those of today, or has failed with
 * them. After a failed deployment that is what takes the sessions: a secret that was replaced must not stay in use because of it.
 */
export async function outdatedConfig(
  store: Store,
  agent: StoredAgent,
): Promise<DeploymentConfig | undefined> {
  const desired = await store.agents.deployment(agent.id, agent.desiredDeploymentId)
  if (!desired) return undefined
  const active =
    desired.phase === 'Failed' && agent.activeDeploymentId !== null
      ? await store.agents.deployment(agent.id, agent.activeDeploymentId)
      : undefined
  const { config, secretsVersion } = active ?? desired
  const newest = await newestVersion(store, agent, config)
  if (newest <= secretsVersion) return undefined
  if (active && (await wasTried(store, active, newest))) return undefined
  return config
}

/** The version in which one of the sets was changed last. */
async function newestVersion(
  store: Store,
  { organizationId }: StoredAgent,
  { secretSet, imagePullSecretSet, buildId }: DeploymentConfig,
): Promise<number> {
  let newest = 0
  // What a build has made is not fetched.
  for (const name of [secretSet, buildId === null ? imagePullSecretSet : null]) {
    const set = name === null ? undefined : await store.secrets.set(organizationId, name)
    newest = Math.max(newest, set?.version ?? 0)
  }
  return newest
}

/** Whether a later deployment was the same with newer secrets, and failed by itself. */
async function wasTried(store: Store, active: StoredDeployment, version: number): Promise<boolean> {
  const page = { limit: MOST_LATER, offset: 0 }
  const { deployments } = await store.agents.deployments(active.agentId, page)
  return deployments.some(
    ({ number, secretsVersion, failure, config }) =>
      number > active.number &&
      secretsVersion >= version &&
      failure?.code !== 'DEPLOY-SUPERSEDED' &&
      isDeepStrictEqual(config, active.config),
  )
}
