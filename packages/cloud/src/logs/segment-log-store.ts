import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CloudError } from '../errors.ts'
import { readLogFolder } from './log-folder.ts'
import type { FilePage } from './log-page.ts'
import type { LogState, LogStore } from './log-store.ts'
import { OpenFiles } from './open-files.ts'
import { SegmentLog } from './segment-log.ts'
import { SegmentLogFollower } from './segment-log-follower.ts'
import { SegmentLogWriter } from './segment-log-writer.ts'

/** How much of a log is kept unless something else is said. */
export const DEFAULT_LOG_BYTES = 100 * 1024 * 1024
const ID = /^[A-Za-z0-9_-]{1,64}$/
const REMOVED = '.removed-'
/** Logs that nobody writes or follows are forgotten beyond so many, or so many places of their indexes (16 bytes each). */
const MAX_IDLE = 256
const MAX_PLACES = 500_000
const MAX_OPEN_FILES = 128

/** What can be set for a store. */
export interface SegmentLogStoreOptions {
  /** How much of a log is kept, in bytes of JSON: one half of its start, one half of its end. */
  readonly maxBytes?: number
  /** How many files may be open for reading. */
  readonly maxOpenFiles?: number
}

/**
 * Logs as files: a folder a log, in it one or more segments whose bytes are sent as they are. The name of a segment is the number of its
 * first line. The first segment is the head of the log and stays; when the log is full, the oldest of the others is dropped, and the
 * numbers that are missing after the head say how many lines were left out. One process at a time may have the folder.
 */
export class SegmentLogStore implements LogStore {
  readonly #root: string
  readonly #maxBytes: number
  readonly #files: OpenFiles
  readonly #logs = new Map<string, SegmentLog>()
  readonly #writers = new Map<string, SegmentLogWriter>()
  readonly #run = randomBytes(6).toString('base64url')
  #closed = false

  constructor(root: string, options: SegmentLogStoreOptions = {}) {
    this.#root = root
    this.#maxBytes = options.maxBytes ?? DEFAULT_LOG_BYTES
    this.#files = new OpenFiles(options.maxOpenFiles ?? MAX_OPEN_FILES)
    mkdirSync(root, { recursive: true })
    for (const name of readdirSync(root)) {
      if (name.startsWith(REMOVED)) rmSync(join(root, name), { recursive: true, force: true })
    }
  }

  /** How many logs and files are held now. */
  get held(): { readonly logs: number; readonly files: number } {
    return { logs: this.#logs.size, files: this.#files.count }
  }

  async openWriter(id: string): Promise<SegmentLogWriter> {
    const log = this.#log(id)
    if (log.sealed) throw new CloudError('CONFLICT', `The log ${id} is sealed and takes no more lines.`)
    if (this.#writers.has(id)) throw new CloudError('CONFLICT', `The log ${id} is being written already.`)
    const writer = new SegmentLogWriter(log, {
      files: this.#files,
      maxBytes: this.#maxBytes,
      released: () => this.#writers.delete(id),
    })
    this.#writers.set(id, writer)
    return writer
  }

  state(id: string): LogState {
    return this.#log(id).state
  }

  tail(id: string, limit: number): FilePage {
    return this.#log(id).page(Number.POSITIVE_INFINITY, limit)
  }

  before(id: string, before: number, limit: number): FilePage {
    return this.#log(id).page(before, limit)
  }

  follow(id: string, from: number): SegmentLogFollower {
    return new SegmentLogFollower(this.#log(id), from)
  }

  /** Removes a log. Its followers end. */
  async remove(id: string): Promise<void> {
    if (this.#writers.has(id)) throw new CloudError('CONFLICT', `The log ${id} is being written.`)
    const log = this.#log(id)
    this.#forget(id, log)
    log.gone = true
    log.announce()
    const doomed = join(this.#root, `${REMOVED}${id}-${randomBytes(4).toString('hex')}`)
    try {
      await rename(log.folder, doomed)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
      throw error
    }
    await rm(doomed, { recursive: true, force: true })
  }

  /** Closes all writers, without sealing their logs, and ends all followers. */
  async close(): Promise<void> {
    this.#closed = true
    const closing = await Promise.allSettled([...this.#writers.values()].map((writer) => writer.close()))
    for (const log of this.#logs.values()) {
      log.gone = true
      log.announce()
    }
    this.#logs.clear()
    this.#files.close()
    const failed = closing.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  #log(id: string): SegmentLog {
    if (this.#closed) throw new CloudError('UNAVAILABLE', 'The cloud is stopping.')
    let log = this.#logs.get(id)
    if (log === undefined) {
      if (!ID.test(id))
        throw new CloudError('INVALID_REQUEST', `${JSON.stringify(id)} cannot be the id of a log.`)
      const folder = join(this.#root, id)
      log = new SegmentLog(folder, readLogFolder(folder), {
        files: this.#files,
        maxBytes: this.#maxBytes,
        run: this.#run,
      })
      this.#makeRoom(log.cost)
    } else {
      this.#logs.delete(id)
    }
    this.#logs.set(id, log)
    return log
  }

  #makeRoom(needed: number): void {
    let count = 1
    let cost = needed
    for (const log of this.#logs.values()) {
      if (!log.idle) continue
      count += 1
      cost += log.cost
    }
    for (const [id, log] of this.#logs) {
      if (count <= MAX_IDLE && cost <= MAX_PLACES) return
      if (!log.idle) continue
      count -= 1
      cost -= log.cost
      this.#forget(id, log)
    }
  }

  #forget(id: string, log: SegmentLog): void {
    this.#logs.delete(id)
    for (const { path } of log.segments) this.#files.drop(path)
  }
}
