import type { SessionView } from '@botcli/protocol'
import type { AgentLogStore, JournalPosition, NewLogEntry } from '../agent-logs/agent-log-store.ts'
import { LogIngest } from '../agent-logs/log-ingest.ts'
import { JOURNAL_START, JournalReader } from '../engine/journal-reader.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { RedactionTable } from '../logs/redaction-table.ts'

/** What is kept of the last words of an instance. */
const WORDS_LENGTH = 16 * 1024
/** Something that could not be written is tried again after so long. */
const RETRY_MS = 1000

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
}

/** Brings what an instance writes into the log of its agent and to its sessions: in order, each thing once, whatever crashes. */
export class InstanceIngest {
  readonly #options: InstanceIngestOptions
  readonly #reader: JournalReader
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

  constructor(options: InstanceIngestOptions) {
    this.#options = options
    this.#reader = new JournalReader(options)
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

  /** Resolves when everything that is there now was taken over. */
  async catchUp(): Promise<void> {
    await this.#enqueue(() => this.#takeAll(false))
  }

  /** Takes over the rest of an instance that has ended, also a last line without its end. */
  async finish(): Promise<void> {
    await this.#enqueue(() => this.#takeAll(true))
    this.#isClosed = true
    clearTimeout(this.#retry)
    await this.#options.logs.forgetPosition(this.#options.instanceId)
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
      await this.#takeAll(false)
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
    if (this.#isClosed) return
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

  async #takeAll(isOver: boolean): Promise<void> {
    const { agentId, instanceId, deploymentId, logs, onSession, onLost } = this.#options
    this.#position ??= (await logs.position(instanceId)) ?? JOURNAL_START
    for (let hasMore = true; hasMore; ) {
      const batch = await this.#reader.read(this.#position, { isOver })
      hasMore = batch.hasMore
      const isEmpty = batch.records.length === 0 && batch.output.length === 0
      if (isEmpty && isSame(batch.position, this.#position)) continue
      // First the sessions, which can be told twice without harm; then the log, together with how far it was read.
      for (const record of batch.records) {
        if (record.type === 'session') await onSession(record.session)
        if (record.type === 'lost') onLost()
      }
      const ingest = new LogIngest({ deploymentId, instanceId }, await this.#options.redaction())
      const moment = { now: this.#options.clock(), isReady: this.#isReady }
      const entries = [...ingest.records(batch.records, moment), ...ingest.output(batch.output, moment)]
      for (const entry of entries) this.#remember(entry)
      // Also without entries: an output that was emptied is read from its beginning now, and the next process has to know that.
      await logs.append(agentId, entries, { instanceId, position: batch.position })
      this.#position = batch.position
    }
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
