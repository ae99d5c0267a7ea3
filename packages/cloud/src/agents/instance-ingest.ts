import type { SessionView } from '@botcli/protocol'
import type { AgentLogStore, JournalPosition, NewLogEntry } from '../agent-logs/agent-log-store.ts'
import { LogIngest, type LogMoment } from '../agent-logs/log-ingest.ts'
import { JOURNAL_START, type JournalBatch, JournalReader } from '../engine/journal-reader.ts'
import { OBSTACLES, type Obstacle } from '../engine/obstacle.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { RedactionTable } from '../logs/redaction-table.ts'

/** What is kept of the last words of an instance. */
const WORDS_LENGTH = 16 * 1024
/** Something that could not be written is tried again after so long. */
const RETRY_MS = 1000
/** Nothing is taken for longer than this in one go, since a bot may write without an end. */
const TAKE_MS = 15_000
/** No more than this is taken of an instance that has ended: twice what a runner leaves in its journal and its output file. */
const REST_BYTES = 192 * 1024 * 1024
/** What one go counts for at least, since many short lines, and files without any, cost as much. No runner writes lines that short. */
const BATCH_COSTS_BYTES = 64 * 1024
/** The rest of an instance that has ended is tried so often to be read, if that fails for no reason that we know. */
const READ_TRIES = 60

/** What an ingest works with. */
export interface InstanceIngestOptions {
  readonly agentId: string
  readonly deploymentId: string
  readonly instanceId: string
  readonly journalFolder: string
  readonly outputPath: string
  readonly logs: AgentLogStore
  /** What is to be kept out of the log. */
  readonly redaction: () => Promise<RedactionTable>
  /** A session of the instance has changed. */
  readonly onSession: (session: SessionView) => Promise<void>
  /** Something that it has told is lost. */
  readonly onLost: () => void
  readonly log: CloudLog
  readonly clock: Clock
  /** How long it takes over what is there in one go. */
  readonly takeMs?: number | undefined
  /** How much it takes over of an instance that has ended. */
  readonly restBytes?: number | undefined
}

/**
 * Brings what an instance writes into the log of its agent and to its sessions: in order, each thing once, whatever crashes. What we cannot
 * write fails, and is to be tried again. What cannot be read because of what the instance has made of it is told once, and left out.
 */
export class InstanceIngest {
  readonly #options: InstanceIngestOptions
  readonly #reader: JournalReader
  readonly #takeMs: number
  /** How much may still be taken over once the instance has ended. */
  #restLeft: number
  #position: JournalPosition | undefined
  #isReady = false
  #isClosed = false
  #words = ''
  #startWords = ''
  #work: Promise<void> = Promise.resolve()
  #isScheduled = false
  /** Set while it waits to try again what could not be done. */
  #retry: NodeJS.Timeout | undefined
  #isFailing = false
  /** Whether the last failure was one of reading. */
  #isUnread = false
  #vainReads = 0
  readonly #told = new Set<Obstacle>()

  constructor(options: InstanceIngestOptions) {
    this.#options = options
    this.#reader = new JournalReader(options)
    this.#takeMs = options.takeMs ?? TAKE_MS
    this.#restLeft = options.restBytes ?? REST_BYTES
  }

  /** The end of what the instance has printed or told as an error. */
  get lastWords(): string {
    return this.#words.trim()
  }

  /** The end of all that it has said before it was ready. */
  get startWords(): string {
    return this.#startWords.trim()
  }

  /** What comes from now on is of its run, not of its start. */
  markReady(): void {
    this.#isReady = true
  }

  /** There may be something new. */
  wake(): void {
    if (this.#isScheduled || this.#isClosed || this.#retry !== undefined) return
    this.#isScheduled = true
    void this.#enqueue(() => this.#try())
  }

  /** Resolves when everything that is there now was taken over, as far as it can be read. */
  async catchUp(): Promise<void> {
    await this.#enqueue(async () => {
      try {
        await this.#takeNow()
      } catch (error) {
        if (!this.#isUnread) throw error
        this.#tryAgain(error)
      }
    })
  }

  /** Takes over the rest of an instance that has ended, also a last line without its end. */
  async finish(): Promise<void> {
    await this.#enqueue(() => this.#takeRest())
    // Closed meanwhile: the next process goes on from where this one was.
    if (this.#isClosed) return
    await this.#options.logs.forgetPosition(this.#options.instanceId)
    this.#isClosed = true
    clearTimeout(this.#retry)
  }

  /** Takes no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    await this.#work.catch(() => {})
  }

  /** On a full disk an instance wakes us many times a second: all of that is one try a second, and one word in the log. */
  async #try(): Promise<void> {
    // The one before has failed, and this one was woken meanwhile.
    if (this.#retry !== undefined) return
    try {
      await this.#takeNow()
      this.#noteWorking()
    } catch (error) {
      this.#tryAgain(error)
    }
  }

  #tryAgain(error: unknown): void {
    const { log, instanceId } = this.#options
    if (!this.#isFailing) {
      log.warn('the journal of an instance could not be taken over; trying again', { instanceId, error })
    }
    this.#isFailing = true
    if (this.#isClosed || this.#retry !== undefined) return
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.wake()
    }, RETRY_MS).unref()
  }

  #noteWorking(): void {
    const { log, instanceId } = this.#options
    if (this.#isFailing) log.info('the journal of an instance is taken over again', { instanceId })
    this.#isFailing = false
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const next = this.#work
      .catch(() => {})
      .then(() => {
        this.#isScheduled = false
        return this.#isClosed ? undefined : work()
      })
    this.#work = next
    return next
  }

  async #takeNow(): Promise<void> {
    const end = performance.now() + this.#takeMs
    const hasMore = await this.#takeAll(false, () => performance.now() < end)
    // Whoever waits has what was there; somebody writes as fast as we read.
    if (hasMore) this.wake()
  }

  async #takeRest(): Promise<void> {
    try {
      // Not a matter of time: others may end at the same moment.
      const hasMore = await this.#takeAll(true, ({ bytes }) => {
        this.#restLeft -= Math.max(bytes, BATCH_COSTS_BYTES)
        return this.#restLeft > 0
      })
      if (hasMore && !this.#isClosed) await this.#takeEnd()
    } catch (error) {
      if (!this.#isUnread) throw error
      this.#vainReads += 1
      if (this.#vainReads < READ_TRIES) throw error
      await this.#tell('unread')
    }
  }

  /** Leaves the rest out, but for how its sessions ended, which is at the end of it. */
  async #takeEnd(): Promise<void> {
    for (const session of await this.#read(() => this.#reader.lastSessions()))
      await this.#options.onSession(session)
    await this.#tell('endless')
  }

  /** Takes what is there, batch by batch as long as that goes on. Says whether there is more. */
  async #takeAll(isOver: boolean, goesOn: (taken: JournalBatch) => boolean): Promise<boolean> {
    this.#isUnread = false
    let position = this.#position ?? (await this.#options.logs.position(this.#options.instanceId))
    position ??= JOURNAL_START
    let batch: JournalBatch
    do {
      const from: JournalPosition = position
      batch = await this.#read(() => this.#reader.read(from, { isOver }))
      await this.#take(batch, from)
      position = batch.position
      this.#position = position
    } while (batch.hasMore && !this.#isClosed && goesOn(batch))
    return batch.hasMore
  }

  async #read<T>(part: () => Promise<T>): Promise<T> {
    try {
      return await part()
    } catch (error) {
      this.#isUnread = true
      throw error
    }
  }

  async #take({ records, output, obstacles, position }: JournalBatch, from: JournalPosition): Promise<void> {
    const { agentId, instanceId, logs, onSession, onLost } = this.#options
    const untold = obstacles.filter((obstacle) => !this.#told.has(obstacle))
    const isEmpty = records.length === 0 && output.length === 0 && untold.length === 0
    if (isEmpty && isSame(position, from)) return
    // First the sessions, which can be told twice without harm; then the log, together with how far it was read.
    for (const record of records) {
      if (record.type === 'session') await onSession(record.session)
      if (record.type === 'lost') onLost()
    }
    const ingest = await this.#ingest()
    const moment = this.#moment()
    const entries = [...ingest.records(records, moment), ...ingest.output(output, moment)]
    for (const entry of entries) this.#remember(entry)
    const notices = untold.map((obstacle) => ingest.notice(OBSTACLES[obstacle], moment))
    // Also without entries: an output that was emptied is read from its beginning now, and the next process has to know that.
    await logs.append(agentId, [...entries, ...notices], { instanceId, position })
    for (const obstacle of untold) this.#told.add(obstacle)
    // What is in the way may have been the end of a session.
    if (untold.length > 0) onLost()
  }

  async #tell(obstacle: Obstacle): Promise<void> {
    const notice = (await this.#ingest()).notice(OBSTACLES[obstacle], this.#moment())
    if (!this.#told.has(obstacle)) await this.#options.logs.append(this.#options.agentId, [notice])
    this.#told.add(obstacle)
  }

  async #ingest(): Promise<LogIngest> {
    const { deploymentId, instanceId, redaction } = this.#options
    return new LogIngest({ deploymentId, instanceId }, await redaction())
  }

  #moment(): LogMoment {
    return { now: this.#options.clock(), isReady: this.#isReady }
  }

  #remember({ level, source, text }: NewLogEntry): void {
    if (level === 'error' || level === null) this.#words = lengthened(this.#words, text)
    if (source === 'start') this.#startWords = lengthened(this.#startWords, text)
  }
}

function lengthened(words: string, text: string): string {
  return `${words}${text}\n`.slice(-WORDS_LENGTH)
}

function isSame(one: JournalPosition, other: JournalPosition): boolean {
  return one.file === other.file && one.offset === other.offset && one.output === other.output
}
