import { secretSetType } from '@botcli/protocol/cloud'
import type { FormerSecret, Store, StoredSecret, StoredSecretSet } from '../store.ts'
import { bytes, number, text } from './columns.ts'
import type { Row, SqliteDatabase } from './database.ts'

const SET = 'SELECT * FROM secret_sets WHERE organization_id = ? AND name = ?'
const PUT_SET = `
  INSERT INTO secret_sets VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (organization_id, name) DO UPDATE SET updated_at = excluded.updated_at`
const PUT_SECRET = `
  INSERT INTO secrets VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (organization_id, set_name, key) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at`
const COUNT = 'SELECT count(*) AS n FROM secrets WHERE organization_id = ? AND set_name = ?'
/** Values that bots never have are not among them. */
const RETIRE = `
  INSERT INTO former_secrets (organization_id, set_name, key, sealed, replaced_at)
  SELECT s.organization_id, s.set_name, s.key, s.sealed, ?
  FROM secrets s JOIN secret_sets t ON t.organization_id = s.organization_id AND t.name = s.set_name
  WHERE t.type = 'secret' AND s.organization_id = ? AND s.set_name = ?`
const MAX_FORMER = 500
const FORMER = `SELECT * FROM former_secrets WHERE organization_id = ? ORDER BY id DESC LIMIT ${MAX_FORMER}`
const FORGET = `DELETE FROM former_secrets WHERE organization_id = ? AND id NOT IN (SELECT id FROM (${FORMER}))`
const PRUNE_FORMER = `
  DELETE FROM former_secrets WHERE NOT EXISTS (
    SELECT 1 FROM instances i JOIN agents a ON a.id = i.agent_id
    WHERE i.ended_at IS NULL AND i.created_at <= former_secrets.replaced_at
      AND a.organization_id = former_secrets.organization_id
  )`

/** Thrown to undo what was done of a transaction. */
class TooMany extends Error {}

/** Secrets in SQLite. */
export function sqliteSecrets(database: SqliteDatabase): Store['secrets'] {
  const retire = (organizationId: string, name: string, at: number, keys?: readonly string[]): void => {
    if (keys === undefined) database.run(RETIRE, at, organizationId, name)
    else for (const key of keys) database.run(`${RETIRE} AND s.key = ?`, at, organizationId, name, key)
    database.run(PRUNE_FORMER)
    database.run(FORGET, organizationId, organizationId)
  }
  return {
    async put(set, secrets, maxSecrets, changed = []) {
      const { organizationId, name } = set
      try {
        return database.transaction(() => {
          const known = database.get(SET, organizationId, name)
          if (known && text(known, 'type') !== set.type) return 'other_type'
          if (known && text(known, 'region') !== set.region) return 'other_region'
          database.run(PUT_SET, organizationId, name, set.type, set.region, set.createdAt, set.updatedAt)
          retire(organizationId, name, set.updatedAt, changed)
          for (const { key, sealed, updatedAt } of secrets)
            database.run(PUT_SECRET, organizationId, name, key, sealed, updatedAt)
          if (number(database.get(COUNT, organizationId, name) ?? {}, 'n') > maxSecrets) throw new TooMany()
          return 'stored'
        })
      } catch (error) {
        if (error instanceof TooMany) return 'too_many'
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
    async secrets(organizationId, name) {
      return database
        .all(
          'SELECT * FROM secrets WHERE organization_id = ? AND set_name = ? ORDER BY key',
          organizationId,
          name,
        )
        .map(secretOf)
    },
    async removeSet(organizationId, name, at) {
      const sql = 'DELETE FROM secret_sets WHERE organization_id = ? AND name = ?'
      return database.transaction(() => {
        retire(organizationId, name, at)
        return database.run(sql, organizationId, name) > 0
      })
    },
    async removeSecret(organizationId, name, key, at) {
      const sql = 'DELETE FROM secrets WHERE organization_id = ? AND set_name = ? AND key = ?'
      return database.transaction(() => {
        retire(organizationId, name, at, [key])
        if (database.run(sql, organizationId, name, key) === 0) return false
        const touch = 'UPDATE secret_sets SET updated_at = ? WHERE organization_id = ? AND name = ?'
        database.run(touch, at, organizationId, name)
        return true
      })
    },
    async former(organizationId) {
      return database.all(FORMER, organizationId).map(formerOf)
    },
    async pruneFormer() {
      database.run(PRUNE_FORMER)
    },
  }
}

function setOf(row: Row): StoredSecretSet {
  return {
    organizationId: text(row, 'organization_id'),
    name: text(row, 'name'),
    type: secretSetType.parse(row.type),
    region: text(row, 'region'),
    createdAt: number(row, 'created_at'),
    updatedAt: number(row, 'updated_at'),
  }
}

function formerOf(row: Row): FormerSecret {
  return {
    id: number(row, 'id'),
    setName: text(row, 'set_name'),
    key: text(row, 'key'),
    sealed: bytes(row, 'sealed'),
  }
}

function secretOf(row: Row): StoredSecret {
  return { key: text(row, 'key'), sealed: bytes(row, 'sealed'), updatedAt: number(row, 'updated_at') }
}
