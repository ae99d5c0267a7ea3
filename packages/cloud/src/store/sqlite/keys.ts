import { keyFamily } from '@botcli/protocol/cloud'
import type { Store, StoredKey } from '../store.ts'
import { nullable, number, text } from './columns.ts'
import type { Row, SqliteDatabase } from './database.ts'

/** Keys in SQLite. */
export function sqliteKeys(database: SqliteDatabase): Store['keys'] {
  return {
    async create(key) {
      database.run(
        'INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        key.id,
        key.organizationId,
        key.family,
        key.name,
        key.prefix,
        key.hash,
        key.createdAt,
        key.lastUsedAt,
        key.revokedAt,
      )
    },
    async byHash(hash) {
      const row = database.get('SELECT * FROM keys WHERE hash = ?', hash)
      return row && keyOf(row)
    },
    async list(organizationId) {
      return database
        .all('SELECT * FROM keys WHERE organization_id = ? ORDER BY created_at, rowid', organizationId)
        .map(keyOf)
    },
    async touch(id, at) {
      database.casually(() => database.run('UPDATE keys SET last_used_at = ? WHERE id = ?', at, id))
    },
    async revoke(organizationId, id, at) {
      return database.transaction(() => {
        const own = 'organization_id = ? AND revoked_at IS NULL'
        const row = database.get(`SELECT * FROM keys WHERE ${own} AND id = ?`, organizationId, id)
        if (!row) return 'missing'
        const others = `SELECT 1 AS one FROM keys WHERE ${own} AND family = 'private' AND id <> ?`
        if (text(row, 'family') === 'private' && !database.get(others, organizationId, id))
          return 'last_private'
        database.run('UPDATE keys SET revoked_at = ? WHERE id = ?', at, id)
        return 'revoked'
      })
    },
  }
}

function keyOf(row: Row): StoredKey {
  return {
    id: text(row, 'id'),
    organizationId: text(row, 'organization_id'),
    family: keyFamily.parse(row.family),
    name: text(row, 'name'),
    prefix: text(row, 'prefix'),
    hash: text(row, 'hash'),
    createdAt: number(row, 'created_at'),
    lastUsedAt: nullable(number, row, 'last_used_at'),
    revokedAt: nullable(number, row, 'revoked_at'),
  }
}
