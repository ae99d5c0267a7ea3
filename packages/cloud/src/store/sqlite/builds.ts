import { type BuildFailure, buildFailure, buildStatus } from '@botcli/protocol/cloud'
import type { BuildEnd, BuildFilter, Store, StoredBuild } from '../store.ts'
import { nullable, number, text } from './columns.ts'
import type { Row, SqliteDatabase, SqlValue } from './database.ts'

const OPEN = `status IN ('pending', 'building')`
const RUNNING = `(SELECT count(*) FROM builds AS r WHERE r.status = 'building' AND r.organization_id = b.organization_id)`
const SERVED = '(SELECT max(r.started_at) FROM builds AS r WHERE r.organization_id = b.organization_id)'
const NEXT = `
  SELECT b.id AS id FROM builds AS b
  WHERE b.status = 'pending' AND b.cancel_requested = 0 AND ${RUNNING} < ?
  ORDER BY ${RUNNING}, coalesce(${SERVED}, 0), b.created_at, b.rowid LIMIT 1`
const LEASE = `
  UPDATE builds SET status = 'building', lease_owner = ?, lease_until = ?, started_at = ?, updated_at = ?
  WHERE id = ? RETURNING *`
const FINISH = `
  UPDATE builds SET status = ?, image_uri = ?, image_size_bytes = ?, error_message = ?, failure = ?, builder = ?, bases = ?,
    outcome = NULL, lease_owner = NULL, lease_until = NULL, completed_at = ?, updated_at = ?
  WHERE id = ? AND ${OPEN} AND lease_owner IS coalesce(?, lease_owner)`
const COLUMNS: Readonly<Record<keyof BuildFilter, string>> = {
  status: 'status',
  region: 'region',
  contextHash: 'context_hash',
  dockerfilePath: 'dockerfile_path',
}

/** Builds in SQLite. */
export function sqliteBuilds(database: SqliteDatabase): Store['builds'] {
  const get = (organizationId: string, id: string): StoredBuild | undefined => {
    const row = database.get('SELECT * FROM builds WHERE id = ? AND organization_id = ?', id, organizationId)
    return row && buildOf(row)
  }
  return {
    async create(build) {
      database.run(
        `INSERT INTO builds (id, organization_id, status, region, upload_id, context_hash, context_size_bytes, dockerfile_path,
           no_cache, cancel_requested, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        build.id,
        build.organizationId,
        build.status,
        build.region,
        build.uploadId,
        build.contextHash,
        build.contextSizeBytes,
        build.dockerfilePath,
        Number(build.noCache),
        Number(build.cancelRequested),
        build.createdAt,
        build.updatedAt,
      )
    },
    async get(organizationId, id) {
      return get(organizationId, id)
    },
    async list(organizationId, filter, { limit, offset, before }) {
      const { where, values } = conditions(organizationId, filter)
      const total = number(
        database.get(`SELECT count(*) AS n FROM builds WHERE ${where}`, ...values) ?? {},
        'n',
      )
      const older = before ? ' AND (created_at, id) < (?, ?)' : ''
      const rows = database.all(
        `SELECT * FROM builds WHERE ${where}${older} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
        ...values,
        ...(before ? [before.createdAt, before.id] : []),
        limit,
        offset,
      )
      return { builds: rows.map(buildOf), total }
    },
    async cached(organizationId, { contextHash, region, dockerfilePath, builder }) {
      const row = database.get(
        `SELECT * FROM builds WHERE organization_id = ? AND context_hash = ? AND region = ? AND dockerfile_path = ? AND builder = ?
           AND status = 'success' ORDER BY created_at DESC, id DESC LIMIT 1`,
        organizationId,
        contextHash,
        region,
        dockerfilePath,
        builder,
      )
      return row && buildOf(row)
    },
    async lease(owner, now, until, perOrganization) {
      return database.transaction(() => {
        const next = database.get(NEXT, perOrganization)
        if (!next) return undefined
        const [leased] = database.all(LEASE, owner, until, now, now, text(next, 'id'))
        return leased && buildOf(leased)
      })
    },
    async renew(id, owner, until) {
      return database.casually(() => {
        const sql = `UPDATE builds SET lease_until = ? WHERE id = ? AND lease_owner = ? AND status = 'building' RETURNING cancel_requested`
        const [row] = database.all(sql, until, id, owner)
        return row && { cancelRequested: number(row, 'cancel_requested') === 1 }
      })
    },
    async takeOver(owner, before, until) {
      const sql = `UPDATE builds SET lease_owner = ?, lease_until = ? WHERE ${OPEN} AND lease_until <= ? RETURNING *`
      const taken = database.all(sql, owner, until, before).map(buildOf)
      return taken.toSorted((one, other) => one.createdAt - other.createdAt)
    },
    async requestCancel(organizationId, id, at, until) {
      return database.transaction(() => {
        database.run(
          `UPDATE builds SET cancel_requested = 1, updated_at = ?, lease_until = coalesce(lease_until, ?)
             WHERE id = ? AND organization_id = ? AND ${OPEN}`,
          at,
          until,
          id,
          organizationId,
        )
        return get(organizationId, id)
      })
    },
    async noteOutcome(id, end, owner) {
      const sql = `UPDATE builds SET outcome = ? WHERE id = ? AND ${OPEN} AND lease_owner IS coalesce(?, lease_owner)`
      return database.run(sql, JSON.stringify(end), id, owner ?? null) > 0
    },
    async finish(id, end, at, owner) {
      const { status, imageUri, imageSizeBytes, errorMessage, failure, builder, bases } = end
      const said = failure && JSON.stringify(failure)
      const made = [imageUri, imageSizeBytes, errorMessage, said, builder, JSON.stringify(bases)]
      return database.run(FINISH, status, ...made, at, at, id, owner ?? null) > 0
    },
    async remove(organizationId, id) {
      const sql = `DELETE FROM builds WHERE id = ? AND organization_id = ? AND status NOT IN ('pending', 'building')`
      return database.run(sql, id, organizationId) > 0
    },
  }
}

function conditions(organizationId: string, filter: BuildFilter): { where: string; values: SqlValue[] } {
  const where = ['organization_id = ?']
  const values: SqlValue[] = [organizationId]
  for (const [name, column] of Object.entries(COLUMNS)) {
    const wanted = filter[name as keyof BuildFilter]
    if (wanted === undefined) continue
    where.push(`${column} = ?`)
    values.push(wanted)
  }
  return { where: where.join(' AND '), values }
}

function buildOf(row: Row): StoredBuild {
  return {
    id: text(row, 'id'),
    organizationId: text(row, 'organization_id'),
    status: buildStatus.parse(row.status),
    region: text(row, 'region'),
    uploadId: text(row, 'upload_id'),
    contextHash: text(row, 'context_hash'),
    contextSizeBytes: number(row, 'context_size_bytes'),
    dockerfilePath: text(row, 'dockerfile_path'),
    noCache: number(row, 'no_cache') === 1,
    imageUri: nullable(text, row, 'image_uri'),
    imageSizeBytes: nullable(number, row, 'image_size_bytes'),
    errorMessage: nullable(text, row, 'error_message'),
    failure: nullable(failureOf, row, 'failure'),
    builder: nullable(text, row, 'builder'),
    bases: JSON.parse(text(row, 'bases')) as StoredBuild['bases'],
    outcome: nullable(endOf, row, 'outcome'),
    cancelRequested: number(row, 'cancel_requested') === 1,
    createdAt: number(row, 'created_at'),
    updatedAt: number(row, 'updated_at'),
    startedAt: nullable(number, row, 'started_at'),
    completedAt: nullable(number, row, 'completed_at'),
  }
}

function failureOf(row: Row, name: string): BuildFailure {
  return buildFailure.parse(JSON.parse(text(row, name)))
}

function endOf(row: Row, name: string): BuildEnd {
  return JSON.parse(text(row, name)) as BuildEnd
}
