import type { NewLogEntry } from '../agent-logs/agent-log-store.ts'

/** An entry of a log in which only some things matter. */
export function logEntry(given: Partial<NewLogEntry> = {}): NewLogEntry {
  return {
    time: 1_700_000_000_000,
    source: 'run',
    level: 'info',
    text: 'something happened',
    deploymentId: null,
    instanceId: null,
    sessionId: null,
    ...given,
  }
}
