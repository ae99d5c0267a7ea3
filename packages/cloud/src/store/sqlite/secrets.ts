import { secretSetType } from '@botcli/protocol/cloud'
import type { KnownSecret, Store, StoredSecret, StoredSecretSet } from '../store.ts'
import { OPEN, usersOf } from './agents.ts'
import { bytes, number, text } from './columns.ts'
import type { Row, SqliteDatabase } from './database.ts'

const SET = 'SELECT * FROM secret_sets WHERE organization_id = ? AND name = ?'
const PUT_SET = `
  INSERT INTO secret_sets (organization_id, name, type, region, created_at, updated_at, version) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (organization_id, name) DO UPDATE SET updated_at = excluded.updated_at, version = excluded.version`
const PUT_SECRET = `
  INSERT INTO secret_values (organization_id, set_name, key, since, type, sealed, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)`
const NEXT_VERSION = `
  UPDATE organizations SET secrets_version = secrets_version + 1 WHERE id = ? RETURNING secrets_version AS version`
const COUNT = `
  SELECT count(*) AS n FROM secret_values WHERE organization_id = ? AND set_name = ? AND until IS NULL`
const BYTES = `
  SELECT coalesce(sum(length(sealed)), 0) AS known, coalesce(sum(length(sealed)) FILTER (WHERE until IS NULL), 0) AS current
  FROM secret_values WHERE organization_id = ?`
const CURRENT = `
  SELECT * FROM secret_values WHERE organization_id = ? AND set_name = ? AND until IS NULL ORDER BY key`
const CURRENT_KEY = `
  SELECT 1 AS n FROM secret_values WHERE organization_id = ? AND set_name = ? AND until IS NULL AND key = ?`
const OF_VERSION = `
  SELECT * FROM secret_values
  WHERE organization_id = ?1 AND set_name = ?2 AND since BETWEEN 0 AND ?3 AND (until IS NULL OR until > ?3) ORDER BY key`
const RETIRE = `
  UPDATE secret_values SET until = ? WHERE organization_id = ? AND set_name = ? AND until IS NULL`
/** What deployments need that may start instances, or have some left. */
const NEEDED = `
  WITH needy AS (
    SELECT a.organization_id, d.secrets_version AS version, d.config FROM agents AS a JOIN deployments AS d ON d.agent_id = a.id
    WHERE a.deleted_at IS NULL AND d.${OPEN}
    UNION ALL
    SELECT a.organization_id, d.secrets_version AS version, d.config FROM instances AS i
    JOIN deployments AS d ON d.id = i.deployment_id JOIN agents AS a ON a.id = d.agent_id
    WHERE i.ended_at IS NULL
  )
  SELECT organization_id, config ->> 'secretSet' AS set_name, version FROM needy
  UNION
  SELECT organization_id, config ->> 'imagePullSecretSet' AS set_name, version FROM needy`
const PRUNE_FORMER = `
  WITH needed AS MATERIALIZED (${NEEDED})
  DELETE FROM secret_values WHERE until IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM needed AS n WHERE n.organization_id = secret_values.organization_id AND n.set_name = secret_values.set_name
      AND n.version >= since AND n.version < until
  ) RETURNING organization_id`
const ANY_FORMER = 'SELECT 1 AS n FROM secret_values WHERE until IS NOT NULL LIMIT 1'

/** Thrown to undo what was done of a transaction. */
class Refused extends Error {
  readonly why: 'too_many' | 'too_large' | 'too_many_former'

  constructor(why: Refused['why']) {
    super(why)
    this.why = why
  }
}

/** Secrets in SQLite. */
export function sqliteSecrets(database: SqliteDatabase): Store['secrets'] {
  const nextVersion = (organizationId: string): number => {
    const [row = {}] = database.all(NEXT_VERSION, organizationId)
    return number(row, 'version')
  }
  const prune = (): void => {
    if (!database.get(ANY_FORMER)) return
    const pruned = database.all(PRUNE_FORMER).map((row) => text(row, 'organization_id'))
    for (const organizationId of new Set(pruned)) nextVersion(organizationId)
  }
  return {
    async put(set, secrets, limits) {
      const { organizationId, name, type } = set
      try {
        return database.transaction(() => {
          const known = database.get(SET, organizationId, name)
          if (known && text(known, 'type') !== type) return 'other_type'
          if (known && text(known, 'region') !== set.region) return 'other_region'
          const version = nextVersion(organizationId)
          database.run(PUT_SET, organizationId, name, type, set.region, set.createdAt, set.updatedAt, version)
          for (const { key, sealed, updatedAt } of secrets) {
            database.run(`${RETIRE} AND key = ?`, version, organizationId, name, key)
            database.run(PUT_SECRET, organizationId, name, key, version, type, sealed, updatedAt)
          }
          prune()
          if (number(database.get(COUNT, organizationId, name) ?? {}, 'n') > limits.maxSecrets)
            throw new Refused('too_many')
          const size = database.get(BYTES, organizationId) ?? {}
          if (number(size, 'current') > limits.maxBytes) throw new Refused('too_large')
          if (number(size, 'known') > limits.maxKnownBytes) throw new Refused('too_many_former')
          return 'stored'
        })
      } catch (error) {
        if (error instanceof Refused) return error.why
        throw error
      }
    },
    async sets(organizationId) {
      return database
        .all('SELECT * FROM secret_sets WHERE organization_id = ? ORDER BY name', organizationId)
        .map(setOf)
    },
    async set(organizationId, name) {
      const row = database.get(SET, organizationId, name)
      return row && setOf(row)
    },
    async secrets(organizationId, name, version) {
      const rows =
        version === undefined
          ? database.all(CURRENT, organizationId, name)
          : database.all(OF_VERSION, organizationId, name, version)
      return rows.map(secretOf)
    },
    async removeSet(organizationId, name) {
      const sql = 'DELETE FROM secret_sets WHERE organization_id = ? AND name = ?'
      return database.transaction(() => {
        const users = usersOf(database, organizationId, { secretSet: name })
        if (users.length > 0 || database.run(sql, organizationId, name) === 0)
          return { isRemoved: false, users }
        database.run(RETIRE, nextVersion(organizationId), organizationId, name)
        prune()
        return { isRemoved: true, users }
      })
    },
    async removeSecret(organizationId, name, key, at) {
      return database.transaction(() => {
        if (!database.get(CURRENT_KEY, organizationId, name, key)) return false
        const version = nextVersion(organizationId)
        database.run(`${RETIRE} AND key = ?`, version, organizationId, name, key)
        const touch =
          'UPDATE secret_sets SET updated_at = ?, version = ? WHERE organization_id = ? AND name = ?'
        database.run(touch, at, version, organizationId, name)
        prune()
        return true
      })
    },
    async known(organizationId) {
      return database
        .all('SELECT * FROM secret_values WHERE organization_id = ?', organizationId)
        .map(knownOf)
    },
    async version(organizationId) {
      const row = database.get('SELECT secrets_version FROM organizations WHERE id = ?', organizationId)
      return row === undefined ? 0 : number(row, 'secrets_version')
    },
    async pruneFormer() {
      database.transaction(prune)
    },
  }
}

function setOf(row: Row): StoredSecretSet {
  return {
    organizationId: text(row, 'organization_id'),
    name: text(row, 'name'),
    type: secretSetType.parse(row.type),
    region: text(row, 'region'),
    version: number(row, 'version'),
    createdAt: number(row, 'created_at'),
    updatedAt: number(row, 'updated_at'),
  }
}

function secretOf(row: Row): StoredSecret {
  return { key: text(row, 'key'), sealed: bytes(row, 'sealed'), updatedAt: number(row, 'updated_at') }
}

function knownOf(row: Row): KnownSecret {
  return {
    setName: text(row, 'set_name'),
    type: secretSetType.parse(row.type),
    key: text(row, 'key'),
    sealed: bytes(row, 'sealed'),
  }
}
