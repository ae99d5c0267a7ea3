import { setTimeout as sleep } from 'node:timers/promises'
import { CloudError } from '../errors.ts'
import { SqliteDatabase } from '../store/sqlite/database.ts'
import { migrate } from '../store/sqlite/migrations.ts'
import type {
  AgentLogFilter,
  AgentLogFollower,
  AgentLogPage,
  AgentLogStore,
  AgentLogWindow,
  JournalPosition,
  NewLogEntry,
} from './agent-log-store.ts'
import { type Append, AppendQueue } from './append-queue.ts'
import { LogFollower } from './log-follower.ts'
import { LOG_MIGRATIONS } from './log-migrations.ts'
import { LogReader } from './log-reader.ts'
import { type LogLimits, LogTables } from './log-tables.ts'
import { Turns } from './turns.ts'

/** Entries that are removed in one transaction. */
const REMOVED_AT_ONCE = 500
/** Followers of a log that is removed get so long to read its end. */
const FAREWELL_MS = 5000
const EMPTY: AgentLogPage = { entries: [], total: { value: 0, relation: 'eq' }, hasMore: false }

/** What can be set for a store of logs. */
export interface AgentLogStoreOptions extends LogLimits {
  readonly now?: () => number
  readonly farewellMs?: number
}

/** The logs of all agents in one SQLite file. It is for one process. */
export class SqliteAgentLogStore implements AgentLogStore {
  readonly #database: SqliteDatabase
  readonly #tables: LogTables
  readonly #reader: LogReader
  readonly #queue: AppendQueue
  readonly #turns = new Turns()
  readonly #now: () => number
  readonly #farewellMs: number
  /** Those that read the log of an agent. */
  readonly #followers = new Map<string, Set<LogFollower>>()
  /** Called when a follower has left the log of an agent as its last. */
  readonly #farewells = new Map<string, () => void>()
  #closed = false

  constructor(path: string, { now = Date.now, farewellMs = FAREWELL_MS, ...limits }: AgentLogStoreOptions) {
    this.#database = new SqliteDatabase(path)
    migrate(this.#database, LOG_MIGRATIONS)
    this.#tables = new LogTables(this.#database, limits)
    this.#reader = new LogReader(this.#database, this.#turns)
    this.#queue = new AppendQueue((appends) => this.#write(appends))
    this.#now = now
    this.#farewellMs = farewellMs
  }

  async append(
    agentId: string,
    entries: readonly NewLogEntry[],
    read?: { readonly instanceId: string; readonly position: JournalPosition },
  ): Promise<void> {
    this.#checkOpen()
    if (entries.length === 0 && read === undefined) return
    await this.#queue.add({ agentId, entries, read })
  }

  async position(instanceId: string): Promise<JournalPosition | undefined> {
    return this.#tables.position(instanceId)
  }

  async forgetPosition(instanceId: string): Promise<void> {
    this.#tables.forget(instanceId)
  }

  async page(agentId: string, filter: AgentLogFilter, window: AgentLogWindow): Promise<AgentLogPage> {
    const log = this.#tables.find(agentId)
    return log === undefined ? EMPTY : await this.#reader.page(log, filter, window)
  }

  follow(agentId: string, filter: AgentLogFilter, after: number): AgentLogFollower {
    const followers = this.#followers.get(agentId) ?? new Set()
    const read = (at: number) => {
      const log = this.#tables.find(agentId)
      return log && this.#reader.batch(log, filter, at)
    }
    const left = (follower: LogFollower) => {
      followers.delete(follower)
      if (followers.size > 0 || this.#followers.get(agentId) !== followers) return
      this.#followers.delete(agentId)
      this.#farewells.get(agentId)?.()
    }
    const follower = new LogFollower({ read, left }, after, this.#turns)
    if (this.#closed) follower.close()
    else this.#followers.set(agentId, followers.add(follower))
    if (this.#farewells.has(agentId)) follower.complete()
    return follower
  }

  async newest(agentId: string): Promise<number> {
    return this.#tables.find(agentId)?.last ?? 0
  }

  async remove(agentId: string): Promise<void> {
    this.#queue.flush()
    if (this.#followers.has(agentId)) await this.#bidFarewell(agentId)
    // Whoever opens it next removes it.
    if (this.#closed) return
    this.#database.transaction(() => this.#tables.detach(agentId))
    for (const follower of this.#followers.get(agentId) ?? []) follower.close()
    await this.#repeat(() => this.#tables.sweep(REMOVED_AT_ONCE))
  }

  async removeOthers(agentIds: ReadonlySet<string>): Promise<void> {
    for (const agentId of this.#tables.all()) {
      if (!agentIds.has(agentId) && !this.#closed) await this.remove(agentId)
    }
  }

  async prune(now: number): Promise<void> {
    for (const agentId of this.#tables.all()) {
      await this.#repeat(() => this.#tables.trim(agentId, now, REMOVED_AT_ONCE))
    }
    // What was being removed when the process ended.
    await this.#repeat(() => this.#tables.sweep(REMOVED_AT_ONCE))
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#queue.flush()
    this.#closed = true
    for (const followers of this.#followers.values()) for (const follower of followers) follower.close()
    this.#database.close()
  }

  /** Resolves when the followers of a log have read it to its end, or had time enough for that. */
  async #bidFarewell(agentId: string): Promise<void> {
    const enough = new AbortController()
    this.#farewells.set(agentId, () => enough.abort())
    for (const follower of this.#followers.get(agentId) ?? []) follower.complete()
    await sleep(this.#farewellMs, undefined, { signal: enough.signal }).catch(() => {})
    this.#farewells.delete(agentId)
  }

  #write(appends: readonly Append[]): void {
    this.#casually(() => {
      for (const { agentId, entries, read } of appends) {
        if (entries.length > 0) this.#tables.append(agentId, entries)
        if (read !== undefined) this.#tables.note(read.instanceId, agentId, read.position)
        // Twice as many as have come: a log that is far too long becomes shorter bit by bit.
        this.#tables.trim(agentId, this.#now(), 2 * entries.length + 1)
      }
    })
    for (const { agentId, entries } of appends) {
      if (entries.length === 0) continue
      for (const follower of this.#followers.get(agentId) ?? []) follower.changed()
    }
  }

  /** Does something in short transactions, in turns with everything else, until it is done or the store closed. */
  async #repeat(step: () => boolean): Promise<void> {
    while (!this.#closed && this.#casually(step)) await this.#turns.next()
  }

  /** A log may lose its last moments in a power cut, but nothing in a crash. */
  #casually<T>(work: () => T): T {
    return this.#database.casually(() => this.#database.transaction(work))
  }

  #checkOpen(): void {
    if (this.#closed) throw new CloudError('UNAVAILABLE', 'The cloud is stopping. Try again when it is back.')
  }
}
