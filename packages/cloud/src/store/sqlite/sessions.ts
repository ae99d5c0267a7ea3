import { sessionTransportSchema } from '@botcli/protocol'
import { sessionOutcome } from '@botcli/protocol/cloud'
import * as z from 'zod'
import type { SessionFilter, SessionStore, StoredSession } from '../sessions.ts'
import { nullable, number, text } from './columns.ts'
import type { Row, SqliteDatabase, SqlValue } from './database.ts'

const STATE = z.enum(['starting', 'active', 'ended'])

/** Sessions in SQLite. What only tells how far one has come does not wait for the disk: the instance knows it, too. */
export function sqliteSessions(database: SqliteDatabase): SessionStore {
  return {
    async create(session) {
      database.casually(() =>
        database.run(
          `INSERT INTO sessions (id, organization_id, agent_id, agent_name, deployment_id, instance_id, transport, state, cold_start,
             created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          session.id,
          session.organizationId,
          session.agentId,
          session.agentName,
          session.deploymentId,
          session.instanceId,
          session.transport,
          session.state,
          Number(session.coldStart),
          session.createdAt,
          session.updatedAt,
        ),
      )
    },
    async started(id, startMs, at) {
      const sql = 'UPDATE sessions SET start_ms = ?, updated_at = ? WHERE id = ?'
      database.casually(() => database.run(sql, startMs, at, id))
    },
    async connected(id, at) {
      const sql = `UPDATE sessions SET state = 'active', connected_at = ?, updated_at = max(updated_at, ?)
        WHERE id = ? AND connected_at IS NULL AND state = 'starting'`
      database.casually(() => database.run(sql, at, at, id))
    },
    async tokenUsed(id, used) {
      database.casually(() =>
        database.run('UPDATE sessions SET token_used = ? WHERE id = ?', Number(used), id),
      )
    },
    async end(id, outcome, at) {
      const sql = `UPDATE sessions SET state = 'ended', outcome = ?, ended_at = ?, updated_at = max(updated_at, ?)
        WHERE id = ? AND ended_at IS NULL`
      return database.casually(() => database.run(sql, JSON.stringify(outcome), at, at, id) > 0)
    },
    async get(organizationId, id) {
      const sql = 'SELECT * FROM sessions WHERE id = ? AND organization_id = ?'
      const row = database.get(sql, id, organizationId)
      return row && sessionOf(row)
    },
    async find(agentId, id) {
      const row = database.get('SELECT * FROM sessions WHERE id = ? AND agent_id = ?', id, agentId)
      return row && sessionOf(row)
    },
    async list(agentId, filter, { limit, offset, before }) {
      const { where, values } = conditions(agentId, filter)
      const counted = database.get(`SELECT count(*) AS n FROM sessions WHERE ${where}`, ...values)
      const older = before ? ' AND (created_at, id) < (?, ?)' : ''
      const rows = database.all(
        `SELECT * FROM sessions WHERE ${where}${older} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
        ...values,
        ...(before ? [before.createdAt, before.id] : []),
        limit,
        offset,
      )
      return { sessions: rows.map(sessionOf), total: number(counted ?? {}, 'n') }
    },
    async open(instanceId) {
      const sql = 'SELECT * FROM sessions WHERE instance_id = ? AND ended_at IS NULL ORDER BY created_at, id'
      return database.all(sql, instanceId).map(sessionOf)
    },
    async openOf(agentId) {
      const sql = 'SELECT * FROM sessions WHERE agent_id = ? AND ended_at IS NULL ORDER BY created_at, id'
      return database.all(sql, agentId).map(sessionOf)
    },
    async prune(before) {
      database.casually(() => database.run('DELETE FROM sessions WHERE ended_at < ?', before))
    },
  }
}

function conditions(agentId: string, filter: SessionFilter): { where: string; values: SqlValue[] } {
  const { status, deploymentId, coldStart, startTime, endTime, startMsMin, startMsMax } = filter
  const parts: readonly (readonly [string, SqlValue | undefined])[] = [
    ['agent_id = ?', agentId],
    ['deployment_id = ?', deploymentId],
    ['cold_start = ?', coldStart === undefined ? undefined : Number(coldStart)],
    ['created_at >= ?', startTime],
    ['created_at <= ?', endTime],
    ['start_ms >= ?', startMsMin],
    ['start_ms <= ?', startMsMax],
  ]
  const given = parts.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]))
  const ended = status === undefined ? [] : [`ended_at IS ${status === 'ended' ? 'NOT ' : ''}NULL`]
  return {
    where: [...given.map(({ sql }) => sql), ...ended].join(' AND '),
    values: given.map(({ value }) => value),
  }
}

function sessionOf(row: Row): StoredSession {
  return {
    id: text(row, 'id'),
    organizationId: text(row, 'organization_id'),
    agentId: text(row, 'agent_id'),
    agentName: text(row, 'agent_name'),
    deploymentId: text(row, 'deployment_id'),
    instanceId: text(row, 'instance_id'),
    transport: sessionTransportSchema.parse(row.transport),
    state: STATE.parse(row.state),
    coldStart: number(row, 'cold_start') === 1,
    startMs: nullable(number, row, 'start_ms'),
    tokenUsed: number(row, 'token_used') === 1,
    outcome: nullable((from, name) => sessionOutcome.parse(JSON.parse(text(from, name))), row, 'outcome'),
    createdAt: number(row, 'created_at'),
    updatedAt: number(row, 'updated_at'),
    connectedAt: nullable(number, row, 'connected_at'),
    endedAt: nullable(number, row, 'ended_at'),
  }
}
