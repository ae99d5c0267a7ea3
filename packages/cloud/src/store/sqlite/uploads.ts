import type { Store, Upload } from '../store.ts'
import { nullable, number, text } from './columns.ts'
import type { Row, SqliteDatabase } from './database.ts'

/** Uploads in SQLite. */
export function sqliteUploads(database: SqliteDatabase): Store['uploads'] {
  return {
    async create(upload) {
      database.run(
        'INSERT INTO uploads VALUES (?, ?, ?, ?, ?, ?, ?)',
        upload.id,
        upload.organizationId,
        upload.region,
        upload.expiresAt,
        upload.contextHash,
        upload.contextSizeBytes,
        upload.createdAt,
      )
    },
    async get(organizationId, id) {
      const row = database.get(
        'SELECT * FROM uploads WHERE id = ? AND organization_id = ?',
        id,
        organizationId,
      )
      return row && uploadOf(row)
    },
    async received(id, contextHash, contextSizeBytes) {
      database.run(
        'UPDATE uploads SET context_hash = ?, context_size_bytes = ? WHERE id = ?',
        contextHash,
        contextSizeBytes,
        id,
      )
    },
    async expired(now, limit) {
      const needed = `SELECT 1 FROM builds WHERE upload_id = uploads.id AND status IN ('pending', 'building')`
      return database
        .all(
          `SELECT * FROM uploads WHERE expires_at <= ? AND NOT EXISTS (${needed}) ORDER BY expires_at LIMIT ?`,
          now,
          limit,
        )
        .map(uploadOf)
    },
    async remove(id) {
      database.run('DELETE FROM uploads WHERE id = ?', id)
    },
  }
}

function uploadOf(row: Row): Upload {
  return {
    id: text(row, 'id'),
    organizationId: text(row, 'organization_id'),
    region: text(row, 'region'),
    expiresAt: number(row, 'expires_at'),
    contextHash: nullable(text, row, 'context_hash'),
    contextSizeBytes: nullable(number, row, 'context_size_bytes'),
    createdAt: number(row, 'created_at'),
  }
}
