import { CloudError } from '../../errors.ts'
import { number } from './columns.ts'
import type { SqliteDatabase } from './database.ts'

/** Each brings the tables from one version to the next. They are never changed once released, only added to. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE organizations (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    default_region TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    family TEXT NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
  ) STRICT;
  CREATE INDEX keys_of_organization ON keys (organization_id, created_at);

  CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    region TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    context_hash TEXT,
    context_size_bytes INTEGER,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX uploads_by_end ON uploads (expires_at);

  CREATE TABLE builds (
    id TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    status TEXT NOT NULL,
    region TEXT NOT NULL,
    upload_id TEXT NOT NULL,
    context_hash TEXT NOT NULL,
    context_size_bytes INTEGER NOT NULL,
    dockerfile_path TEXT NOT NULL,
    no_cache INTEGER NOT NULL,
    image_uri TEXT,
    image_size_bytes INTEGER,
    error_message TEXT,
    failure TEXT,
    builder TEXT,
    bases TEXT NOT NULL DEFAULT '[]',
    outcome TEXT,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER
  ) STRICT;
  CREATE INDEX builds_by_age ON builds (organization_id, created_at DESC, id DESC);
  CREATE INDEX builds_by_context ON builds (organization_id, context_hash);
  CREATE INDEX builds_by_start ON builds (organization_id, started_at);
  CREATE INDEX builds_to_do ON builds (status, organization_id, created_at) WHERE status IN ('pending', 'building');
  CREATE INDEX builds_by_upload ON builds (upload_id);

  CREATE TABLE secret_sets (
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    region TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE secrets (
    organization_id TEXT NOT NULL,
    set_name TEXT NOT NULL,
    key TEXT NOT NULL,
    sealed BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, set_name, key),
    FOREIGN KEY (organization_id, set_name) REFERENCES secret_sets (organization_id, name) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    region TEXT NOT NULL,
    min_agents INTEGER NOT NULL,
    max_agents INTEGER NOT NULL,
    desired_deployment_id TEXT NOT NULL,
    active_deployment_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX agents_by_name ON agents (organization_id, name) WHERE deleted_at IS NULL;

  CREATE TABLE deployments (
    id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    number INTEGER NOT NULL,
    reason TEXT NOT NULL,
    source_deployment_id TEXT,
    config TEXT NOT NULL,
    phase TEXT NOT NULL,
    phase_started_at INTEGER NOT NULL,
    was_active INTEGER NOT NULL DEFAULT 0,
    failure TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX deployments_by_number ON deployments (agent_id, number DESC);

  CREATE TABLE instances (
    id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    deployment_id TEXT NOT NULL REFERENCES deployments (id),
    created_at INTEGER NOT NULL,
    ready_at INTEGER,
    ended_at INTEGER
  ) STRICT;
  CREATE INDEX instances_open ON instances (agent_id) WHERE ended_at IS NULL;

  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    deployment_id TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    transport TEXT NOT NULL,
    state TEXT NOT NULL,
    cold_start INTEGER NOT NULL,
    start_ms REAL,
    token_used INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    connected_at INTEGER,
    ended_at INTEGER
  ) STRICT;
  CREATE INDEX sessions_by_age ON sessions (agent_id, created_at DESC, id DESC);
  CREATE INDEX sessions_open ON sessions (agent_id, instance_id) WHERE ended_at IS NULL;
  CREATE INDEX sessions_by_end ON sessions (ended_at);
  `,
  `
  CREATE TABLE former_secrets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    set_name TEXT NOT NULL,
    key TEXT NOT NULL,
    sealed BLOB NOT NULL,
    replaced_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX former_secrets_by_organization ON former_secrets (organization_id, id DESC);
  `,
  // Every change of an organization's secrets is a version of them. A value is that of its key from one version until another. What was former
  // before there were versions has none in which it is given to anybody (below 0), and is kept while a deployment of that time needs it (below 2).
  `
  ALTER TABLE organizations ADD COLUMN secrets_version INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE secret_sets ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE deployments ADD COLUMN secrets_version INTEGER NOT NULL DEFAULT 1;
  UPDATE deployments SET secrets_version = 0 WHERE EXISTS (
    SELECT 1 FROM agents AS a JOIN secret_sets AS s ON s.organization_id = a.organization_id
    WHERE a.id = deployments.agent_id AND s.name = deployments.config ->> 'secretSet' AND s.updated_at > deployments.created_at
  );
  CREATE INDEX deployments_open ON deployments (agent_id) WHERE phase NOT IN ('Retired', 'Failed');

  CREATE TABLE secret_values (
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    set_name TEXT NOT NULL,
    key TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    type TEXT NOT NULL,
    sealed BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, set_name, key, since)
  ) STRICT;
  CREATE INDEX secret_values_former ON secret_values (organization_id) WHERE until IS NOT NULL;
  INSERT INTO secret_values (organization_id, set_name, key, since, type, sealed, updated_at)
    SELECT s.organization_id, s.set_name, s.key, 0, t.type, s.sealed, s.updated_at
    FROM secrets AS s JOIN secret_sets AS t ON t.organization_id = s.organization_id AND t.name = s.set_name;
  INSERT INTO secret_values (organization_id, set_name, key, since, until, type, sealed, updated_at)
    SELECT organization_id, set_name, key, -id, 2, 'secret', sealed, replaced_at FROM former_secrets;
  DROP TABLE secrets;
  DROP TABLE former_secrets;
  `,
  // How much was started of deployments that have failed. Of those that failed before this, nobody knows it.
  `
  ALTER TABLE deployments ADD COLUMN started INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE deployments ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;
  `,
]

/** Brings a file to the newest version. One that a newer version of ours has written is left alone. */
export function migrate(database: SqliteDatabase, migrations: readonly string[] = MIGRATIONS): void {
  const row = database.get('PRAGMA user_version') ?? { user_version: 0 }
  const version = number(row, 'user_version')
  if (version > migrations.length) {
    throw new CloudError(
      'UNAVAILABLE',
      `The data folder was written by a newer version (its tables are version ${version}, this program knows ${migrations.length}). Use that version, or another data folder.`,
    )
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue
    database.transaction(() => {
      database.execute(migration)
      database.execute(`PRAGMA user_version = ${index + 1}`)
    })
  }
}
