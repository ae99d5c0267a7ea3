import { deployFailure, deploymentPhase, deploymentReason } from '@botcli/protocol/cloud'
import { CloudError } from '../../errors.ts'
import type {
  AgentStore,
  DeploymentConfig,
  NewDeployment,
  StoredAgent,
  StoredDeployment,
  StoredInstance,
} from '../agents.ts'
import { nullable, number, text } from './columns.ts'
import type { Row, SqliteDatabase } from './database.ts'

/** Deployments that can still start instances, where their agent was not removed. */
export const OPEN = `phase NOT IN ('Retired', 'Failed')`
const INSERT_AGENT = `
  INSERT INTO agents (id, organization_id, name, region, min_agents, max_agents, desired_deployment_id, active_deployment_id, created_at,
    updated_at, deleted_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const INSERT_DEPLOYMENT = `
  INSERT INTO deployments (id, agent_id, number, reason, source_deployment_id, config, secrets_version, phase, phase_started_at, created_at,
    updated_at)
  VALUES (?1, ?2, (SELECT coalesce(max(number), 0) + 1 FROM deployments WHERE agent_id = ?2), ?3, ?4, ?5,
    (SELECT o.secrets_version FROM organizations AS o JOIN agents AS a ON a.organization_id = o.id WHERE a.id = ?2), 'Creating', ?6, ?6, ?6)
  RETURNING *`
const SET_OF_AGENT = `
  SELECT 1 AS n FROM secret_sets AS s JOIN agents AS a ON a.organization_id = s.organization_id AND a.region = s.region
  WHERE a.id = ? AND s.name = ? AND s.type = ?`
const BY_NAME = 'SELECT * FROM agents WHERE organization_id = ? AND name = ? AND deleted_at IS NULL'
const LATEST = `
  SELECT * FROM agents WHERE organization_id = ? AND name = ?
  ORDER BY deleted_at IS NULL DESC, deleted_at DESC, created_at DESC LIMIT 1`
/** Those that were removed before a time, of which nothing is left but their story. */
const BYGONE = `
  SELECT id FROM agents WHERE deleted_at < ?
    AND NOT EXISTS (SELECT 1 FROM instances WHERE instances.agent_id = agents.id)
    AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.agent_id = agents.id)`

/** Agents in SQLite. */
export function sqliteAgents(database: SqliteDatabase): AgentStore {
  // They were there when they were checked; that was a while ago.
  const requireSet = (agentId: string, type: 'secret' | 'imagePullSecret', name: string | null): void => {
    if (name === null || database.get(SET_OF_AGENT, agentId, name, type)) return
    const what = type === 'secret' ? 'secretSet' : 'imagePullSecretSet'
    throw new CloudError('DEPLOY-SECRET-NOT-FOUND', `${what}: ${name} is not there any more.`)
  }
  const addDeployment = ({ id, agentId, reason, sourceDeploymentId, config, createdAt }: NewDeployment) => {
    requireSet(agentId, 'secret', config.secretSet)
    requireSet(agentId, 'imagePullSecret', config.imagePullSecretSet)
    const values = [id, agentId, reason, sourceDeploymentId, JSON.stringify(config), createdAt]
    const [row = {}] = database.all(INSERT_DEPLOYMENT, ...values)
    return deploymentOf(row)
  }
  const setPhase = (id: string, phase: string, at: number, failure: string | null): void => {
    const sql =
      'UPDATE deployments SET phase = ?, phase_started_at = ?, updated_at = ?, failure = ? WHERE id = ?'
    database.run(sql, phase, at, at, failure, id)
  }
  return {
    async create(agent, deployment) {
      return database.transaction(() => {
        if (database.get(BY_NAME, agent.organizationId, agent.name)) return false
        database.run(
          INSERT_AGENT,
          agent.id,
          agent.organizationId,
          agent.name,
          agent.region,
          agent.minAgents,
          agent.maxAgents,
          agent.desiredDeploymentId,
          agent.activeDeploymentId,
          agent.createdAt,
          agent.updatedAt,
          agent.deletedAt,
        )
        addDeployment(deployment)
        return true
      })
    },
    async get(organizationId, name) {
      const row = database.get(BY_NAME, organizationId, name)
      return row && agentOf(row)
    },
    async latest(organizationId, name) {
      const row = database.get(LATEST, organizationId, name)
      return row && agentOf(row)
    },
    async list(organizationId) {
      const sql = 'SELECT * FROM agents WHERE organization_id = ? AND deleted_at IS NULL ORDER BY name'
      return database.all(sql, organizationId).map(agentOf)
    },
    async all() {
      const left =
        'EXISTS (SELECT 1 FROM instances WHERE instances.agent_id = agents.id AND instances.ended_at IS NULL)'
      return database
        .all(`SELECT * FROM agents WHERE deleted_at IS NULL OR ${left} ORDER BY created_at, id`)
        .map(agentOf)
    },
    async setScaling(id, minAgents, maxAgents, at) {
      const sql = 'UPDATE agents SET min_agents = ?, max_agents = ?, updated_at = ? WHERE id = ?'
      database.run(sql, minAgents, maxAgents, at, id)
    },
    async remove(id, at) {
      database.run(
        'UPDATE agents SET deleted_at = ?, updated_at = ? WHERE id = ? AND deleted_at IS NULL',
        at,
        at,
        id,
      )
    },

    async deploy(deployment) {
      return database.transaction(() => {
        const made = addDeployment(deployment)
        const sql = 'UPDATE agents SET desired_deployment_id = ?, updated_at = ? WHERE id = ?'
        database.run(sql, made.id, made.createdAt, made.agentId)
        return made
      })
    },
    async deployment(agentId, id) {
      const row = database.get('SELECT * FROM deployments WHERE id = ? AND agent_id = ?', id, agentId)
      return row && deploymentOf(row)
    },
    async deployments(agentId, { limit, offset }) {
      const counted = database.get('SELECT count(*) AS n FROM deployments WHERE agent_id = ?', agentId)
      const sql = 'SELECT * FROM deployments WHERE agent_id = ? ORDER BY number DESC LIMIT ? OFFSET ?'
      const rows = database.all(sql, agentId, limit, offset)
      return { deployments: rows.map(deploymentOf), total: number(counted ?? {}, 'n') }
    },
    async openDeployments(agentId) {
      const sql = `SELECT * FROM deployments WHERE agent_id = ? AND ${OPEN} ORDER BY number`
      return database.all(sql, agentId).map(deploymentOf)
    },
    async hasRun(agentId, buildId) {
      const sql = `SELECT 1 AS n FROM deployments WHERE agent_id = ? AND config ->> 'buildId' = ? LIMIT 1`
      return database.get(sql, agentId, buildId) !== undefined
    },
    async activeBefore(agentId, before, limit) {
      const sql = `SELECT * FROM deployments WHERE agent_id = ? AND number < ? AND was_active = 1 ORDER BY number DESC LIMIT ?`
      return database.all(sql, agentId, before, limit).map(deploymentOf)
    },
    async setPhase(id, phase, at, failure, counts) {
      database.transaction(() => {
        setPhase(id, phase, at, failure === undefined ? null : JSON.stringify(failure))
        if (!counts) return
        const sql = 'UPDATE deployments SET started = ?, restarts = ? WHERE id = ?'
        database.run(sql, counts.started, counts.restarts, id)
      })
    },
    async activate(agentId, id, at) {
      database.transaction(() => {
        const active = database.all(
          `SELECT id FROM deployments WHERE agent_id = ? AND phase = 'Active' AND id != ?`,
          agentId,
          id,
        )
        for (const row of active) setPhase(text(row, 'id'), 'Draining', at, null)
        setPhase(id, 'Active', at, null)
        database.run('UPDATE deployments SET was_active = 1 WHERE id = ?', id)
        const sql = 'UPDATE agents SET active_deployment_id = ?, updated_at = ? WHERE id = ?'
        database.run(sql, id, at, agentId)
      })
    },
    async users(organizationId, needed) {
      return usersOf(database, organizationId, needed)
    },

    async addInstance({ id, agentId, deploymentId, createdAt }) {
      const sql = 'INSERT INTO instances (id, agent_id, deployment_id, created_at) VALUES (?, ?, ?, ?)'
      database.run(sql, id, agentId, deploymentId, createdAt)
    },
    async instanceReady(id, at) {
      database.casually(() => database.run('UPDATE instances SET ready_at = ? WHERE id = ?', at, id))
    },
    async instanceEnded(id, at) {
      database.run('UPDATE instances SET ended_at = ? WHERE id = ? AND ended_at IS NULL', at, id)
    },
    async openInstances(agentId) {
      const sql = 'SELECT * FROM instances WHERE agent_id = ? AND ended_at IS NULL ORDER BY created_at, id'
      return database.all(sql, agentId).map(instanceOf)
    },
    async prune(before) {
      database.transaction(() => {
        database.run('DELETE FROM instances WHERE ended_at < ?', before)
        for (const row of database.all(BYGONE, before)) {
          database.run('DELETE FROM deployments WHERE agent_id = ?', text(row, 'id'))
          database.run('DELETE FROM agents WHERE id = ?', text(row, 'id'))
        }
      })
    },
  }
}

/** The names of agents whose newest, active or draining deployments need something. */
export function usersOf(
  database: SqliteDatabase,
  organizationId: string,
  needed: Parameters<AgentStore['users']>[1],
): readonly string[] {
  const [name, value] =
    'secretSet' in needed ? (['secretSet', needed.secretSet] as const) : ['buildId', needed.buildId]
  const pull = name === 'secretSet' ? ` OR d.config ->> 'imagePullSecretSet' = ?2` : ''
  const rows = database.all(
    `SELECT DISTINCT a.name AS name FROM agents AS a JOIN deployments AS d ON d.agent_id = a.id
     WHERE a.organization_id = ?1 AND a.deleted_at IS NULL AND (d.${OPEN} OR d.id = a.desired_deployment_id)
       AND (d.config ->> '${name}' = ?2${pull}) ORDER BY a.name`,
    organizationId,
    value,
  )
  return rows.map((row) => text(row, 'name'))
}

function agentOf(row: Row): StoredAgent {
  return {
    id: text(row, 'id'),
    organizationId: text(row, 'organization_id'),
    name: text(row, 'name'),
    region: text(row, 'region'),
    minAgents: number(row, 'min_agents'),
    maxAgents: number(row, 'max_agents'),
    desiredDeploymentId: text(row, 'desired_deployment_id'),
    activeDeploymentId: nullable(text, row, 'active_deployment_id'),
    createdAt: number(row, 'created_at'),
    updatedAt: number(row, 'updated_at'),
    deletedAt: nullable(number, row, 'deleted_at'),
  }
}

function deploymentOf(row: Row): StoredDeployment {
  return {
    id: text(row, 'id'),
    agentId: text(row, 'agent_id'),
    number: number(row, 'number'),
    reason: deploymentReason.parse(row.reason),
    sourceDeploymentId: nullable(text, row, 'source_deployment_id'),
    config: JSON.parse(text(row, 'config')) as DeploymentConfig,
    secretsVersion: number(row, 'secrets_version'),
    phase: deploymentPhase.parse(row.phase),
    phaseStartedAt: number(row, 'phase_started_at'),
    failure: nullable((from, name) => deployFailure.parse(JSON.parse(text(from, name))), row, 'failure'),
    counts: { started: number(row, 'started'), restarts: number(row, 'restarts') },
    createdAt: number(row, 'created_at'),
    updatedAt: number(row, 'updated_at'),
  }
}

function instanceOf(row: Row): StoredInstance {
  return {
    id: text(row, 'id'),
    agentId: text(row, 'agent_id'),
    deploymentId: text(row, 'deployment_id'),
    createdAt: number(row, 'created_at'),
    readyAt: nullable(number, row, 'ready_at'),
    endedAt: nullable(number, row, 'ended_at'),
  }
}
