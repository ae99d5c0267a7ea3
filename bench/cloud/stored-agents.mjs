import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { SqliteStore } from '../../packages/cloud/dist/store/sqlite-store.js'

/**
 * Makes more agents of one that was deployed, in the data folder of a cloud that is not running. Each has a deployment of the same build
 * that has become active.
 * @param {string} data
 * @param {string} name of the one that is there
 * @param {number} count how many there are then
 */
export async function multiplyAgent(data, name, count) {
  const store = new SqliteStore(join(data, 'cloud.db'))
  try {
    const found = (await store.agents.all()).find((agent) => agent.name === name)
    const model = found && (await store.agents.deployment(found.id, found.activeDeploymentId))
    if (model === undefined) throw new Error(`There is no deployed agent ${name}.`)
    for (let index = 1; index < count; index += 1) {
      const [id, deploymentId] = [randomUUID(), randomUUID()]
      const agent = { ...found, id, name: `${name}-${index}`, desiredDeploymentId: deploymentId }
      const about = { reason: 'create', sourceDeploymentId: null, config: model.config }
      const deployment = { id: deploymentId, agentId: id, ...about, createdAt: found.createdAt }
      await store.agents.create({ ...agent, activeDeploymentId: null }, deployment)
      await store.agents.activate(id, deploymentId, found.createdAt)
    }
  } finally {
    await store.close()
  }
}
