import { secretSetType } from '@botcli/protocol/cloud'
import type { Store, StoredSecret, StoredSecretSet } from '../store.ts'
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

/** Thrown to undo what was done of a transaction. */
class TooMany extends Error {}

/** Secrets in SQLite. */
export function sqliteSecrets(database: SqliteDatabase): Store['secrets'] {
  return {
    async put(set, secrets, maxSecrets) {
      const { organizationId, name } = set
      try {
        return database.transaction(() => {
          const known = database.get(SET, organizationId, name)
          if (known && text(known, 'type') !== set.type) return 'other_type'
          if (known && text(known, 'region') !== set.region) return 'other_region'
          database.run(PUT_SET, organizationId, name, set.type, set.region, set.createdAt, set.updatedAt)
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
    async removeSet(organizationId, name) {
      return (
        database.run('DELETE FROM secret_sets WHERE organization_id = ? AND name = ?', organizationId, name) >
        0
      )
    },
    async removeSecret(organizationId, name, key, at) {
      return database.transaction(() => {
        const sql = 'DELETE FROM secrets WHERE organization_id = ? AND set_name = ? AND key = ?'
        if (database.run(sql, organizationId, name, key) === 0) return false
        const touch = 'UPDATE secret_sets SET updated_at = ? WHERE organization_id = ? AND name = ?'
        database.run(touch, at, organizationId, name)
        return true
      })
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

function secretOf(row: Row): StoredSecret {
  return { key: text(row, 'key'), sealed: bytes(row, 'sealed'), updatedAt: number(row, 'updated_at') }
}
