import type { AgentLogLevel, LogSource } from '@botcli/protocol/cloud'

/** An entry before it has its number. */
export interface NewLogEntry {
  /** Milliseconds since 1970. */
  readonly time: number
  readonly source: LogSource
  readonly level: AgentLogLevel | null
  readonly text: string
  readonly deploymentId: string | null
  readonly instanceId: string | null
  readonly sessionId: string | null
}

/** An entry with its number, which grows with every entry of the agent and is never given twice. */
export interface StoredLogEntry extends NewLogEntry {
  readonly id: number
}

/** Which entries are wanted; all that is given must hold. */
export interface AgentLogFilter {
  readonly deploymentId?: string | undefined
  readonly instanceId?: string | undefined
  readonly sessionId?: string | undefined
  readonly source?: LogSource | undefined
  /** This level or a graver one. Entries without a level count as `info`. */
  readonly level?: AgentLogLevel | undefined
  /** Free text that the entry must contain, in any case of letters. */
  readonly query?: string | undefined
  /** Milliseconds since 1970, both included. */
  readonly startTime?: number | undefined
  readonly endTime?: number | undefined
}

/** Which part of a filtered log is wanted. */
export interface AgentLogWindow {
  readonly limit: number
  /** `desc`: the newest first. */
  readonly order: 'asc' | 'desc'
  /** Leaves out so many. */
  readonly offset?: number | undefined
  /** Only what comes after this entry in that order. */
  readonly after?: number | undefined
  /** `false`: does not count how many there are in all, which can take longer than to read the entries. */
  readonly counted?: boolean | undefined
}

/** Entries, and how many there are in all. */
export interface AgentLogPage {
  readonly entries: readonly StoredLogEntry[]
  readonly total: { readonly value: number; readonly relation: 'eq' | 'gte' }
  /** Whether there are more after these. */
  readonly hasMore: boolean
}

/** How far the journal of an instance was read: a file, and a byte in it. */
export interface JournalPosition {
  readonly file: number
  readonly offset: number
  /** How far its other output was read. */
  readonly output: number
}

/** The logs of all agents. */
export interface AgentLogStore {
  /**
   * Appends entries, all or none of them, and with them, if it is given, how far the journal of their instance was read: so that after a
   * crash no entry is missing and none is there twice.
   */
  append(
    agentId: string,
    entries: readonly NewLogEntry[],
    read?: { readonly instanceId: string; readonly position: JournalPosition },
  ): Promise<void>
  /** How far the journal of an instance was read. */
  position(instanceId: string): Promise<JournalPosition | undefined>
  /** The instance is gone and its journal was read to the end. */
  forgetPosition(instanceId: string): Promise<void>
  page(agentId: string, filter: AgentLogFilter, window: AgentLogWindow): Promise<AgentLogPage>
  /**
   * Entries as they come up, in batches, beginning after the entry with this number. It ends when it is closed, or the store is, or the
   * log is removed. A slow reader gets larger batches, not a larger queue.
   */
  follow(agentId: string, filter: AgentLogFilter, after: number): AgentLogFollower
  /** The number of the newest entry, also when that was pruned; 0 if there never was one. */
  newest(agentId: string): Promise<number>
  /** Removes the log of an agent that is gone for good, and whatever is known of it; its followers may read to its end first. */
  remove(agentId: string): Promise<void>
  /** Removes the logs of all agents but these: a crash may have come between the end of an agent and that of its log. */
  removeOthers(agentIds: ReadonlySet<string>): Promise<void>
  /** Removes the oldest entries of logs that have become too long or too old. */
  prune(now: number): Promise<void>
  close(): Promise<void>
}

/** Entries as they come up, for one reader. */
export interface AgentLogFollower {
  [Symbol.asyncIterator](): AsyncIterator<readonly StoredLogEntry[]>
  /** Whether the log is being removed, so that nothing comes any more. */
  readonly isRemoved: boolean
  close(): void
}
