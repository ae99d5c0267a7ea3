import { sqliteAgents } from './sqlite/agents.ts'
import { sqliteBuilds } from './sqlite/builds.ts'
import { SqliteDatabase } from './sqlite/database.ts'
import { sqliteKeys } from './sqlite/keys.ts'
import { migrate } from './sqlite/migrations.ts'
import { sqliteOrganizations } from './sqlite/organizations.ts'
import { sqliteSecrets } from './sqlite/secrets.ts'
import { sqliteSessions } from './sqlite/sessions.ts'
import { sqliteUploads } from './sqlite/uploads.ts'
import type { Store } from './store.ts'

/** The store in one SQLite file. It is for one process; see DataLock. */
export class SqliteStore implements Store {
  readonly organizations: Store['organizations']
  readonly keys: Store['keys']
  readonly uploads: Store['uploads']
  readonly builds: Store['builds']
  readonly secrets: Store['secrets']
  readonly agents: Store['agents']
  readonly sessions: Store['sessions']
  readonly #database: SqliteDatabase

  constructor(path: string) {
    const database = new SqliteDatabase(path)
    migrate(database)
    this.#database = database
    this.organizations = sqliteOrganizations(database)
    this.keys = sqliteKeys(database)
    this.uploads = sqliteUploads(database)
    this.builds = sqliteBuilds(database)
    this.secrets = sqliteSecrets(database)
    this.agents = sqliteAgents(database)
    this.sessions = sqliteSessions(database)
  }

  async close(): Promise<void> {
    this.#database.close()
  }
}
