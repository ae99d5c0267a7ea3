/** Each brings the tables of `logs.db` from one version to the next. They are never changed once released, only added to. */
export const LOG_MIGRATIONS: readonly string[] = [
  `
  -- A log without an agent was removed; its entries are on their way out.
  CREATE TABLE logs (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id TEXT UNIQUE,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT;

  -- The entries of one log lie side by side, so that those which are pruned leave whole pages to others.
  CREATE TABLE entries (
    log INTEGER NOT NULL,
    id INTEGER NOT NULL,
    time INTEGER NOT NULL,
    source TEXT NOT NULL,
    level INTEGER,
    text TEXT NOT NULL,
    deployment_id TEXT,
    instance_id TEXT,
    session_id TEXT,
    PRIMARY KEY (log, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX entries_of_session ON entries (log, session_id, id) WHERE session_id IS NOT NULL;
  CREATE INDEX entries_of_instance ON entries (log, instance_id, id) WHERE instance_id IS NOT NULL;
  CREATE INDEX entries_of_deployment ON entries (log, deployment_id, id) WHERE deployment_id IS NOT NULL;
  CREATE INDEX entries_that_are_grave ON entries (log, id) WHERE level >= 2;
  CREATE INDEX entries_before_the_run ON entries (log, source, id) WHERE source <> 'run';

  -- The times within each span of numbers: entries are in the order in which they came, which is not quite that of their times.
  CREATE TABLE spans (
    log INTEGER NOT NULL,
    span INTEGER NOT NULL,
    first_time INTEGER NOT NULL,
    last_time INTEGER NOT NULL,
    PRIMARY KEY (log, span)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE positions (
    instance_id TEXT PRIMARY KEY,
    log INTEGER NOT NULL,
    file INTEGER NOT NULL,
    byte INTEGER NOT NULL,
    output INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX positions_of_log ON positions (log);
  `,
]
