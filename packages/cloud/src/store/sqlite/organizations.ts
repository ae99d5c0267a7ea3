import type { Organization, Store } from '../store.ts'
import { number, text } from './columns.ts'
import type { Row, SqliteDatabase } from './database.ts'

/** Organizations in SQLite. */
export function sqliteOrganizations(database: SqliteDatabase): Store['organizations'] {
  return {
    async create({ id, name, defaultRegion, createdAt }) {
      const sql = 'INSERT INTO organizations (id, name, default_region, created_at) VALUES (?, ?, ?, ?)'
      database.run(sql, id, name, defaultRegion, createdAt)
    },
    async get(id) {
      return organizationOf(database.get('SELECT * FROM organizations WHERE id = ?', id))
    },
    async first() {
      return organizationOf(database.get('SELECT * FROM organizations ORDER BY created_at, rowid LIMIT 1'))
    },
    async named(name) {
      return organizationOf(database.get('SELECT * FROM organizations WHERE name = ? LIMIT 1', name))
    },
    async setDefaultRegion(id, region) {
      database.run('UPDATE organizations SET default_region = ? WHERE id = ?', region, id)
    },
  }
}

function organizationOf(row: Row | undefined): Organization | undefined {
  if (!row) return undefined
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    defaultRegion: text(row, 'default_region'),
    createdAt: number(row, 'created_at'),
  }
}
