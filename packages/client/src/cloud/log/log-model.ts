import { batch, computed, signal } from '@preact/signals'
import { type ApiError, messageOf } from '../api/api-error.ts'
import { type Later, LogFollower } from './log-follower.ts'
import { type LogLine, LogLines } from './log-lines.ts'
import { LogSearch } from './log-search.ts'
import type { LogSource } from './log-source.ts'
import type { LogEnd } from './log-stream.ts'

/** Older lines come in steps of this many. */
const OLDER_STEP = 20_000

/** How the log is being followed. */
export type Connection = 'opening' | 'live' | 'lost' | 'ended' | 'refused'

/** What the model takes of its surroundings. */
export interface LogModelOptions {
  /** Calls back before the next picture. */
  readonly frame: (action: () => void) => void
  readonly later?: Later
  readonly max?: number
}

/** A wish to see a line. */
export interface Reveal {
  readonly number: number
  /** Also when it is in sight already. */
  readonly always: boolean
}

/** Everything about one log: its lines, where it stands, what is looked for and what is looked at. */
export class LogModel {
  readonly lines: LogLines
  /** Counts changes of the lines. */
  readonly version = signal(0)
  readonly connection = signal<Connection>('opening')
  readonly end = signal<LogEnd | undefined>(undefined)
  readonly problem = signal<string | undefined>(undefined)
  readonly following = signal(true)
  /** The number of the line that is pointed at. */
  readonly selected = signal<number | undefined>(undefined)
  readonly reveal = signal<Reveal | undefined>(undefined)
  readonly loadingOlder = signal(false)
  readonly search = signal(new LogSearch(''))
  readonly hitCount = signal(0)
  /** Which hit is looked at, from 0. */
  readonly hit = signal(0)
  readonly #stoppedAt = signal(0)
  /** How many lines came since following stopped; none is new to somebody who came for a certain line. */
  readonly unseen = computed(() => {
    this.version.value
    const from = this.#stoppedAt.value
    return this.following.value || from === 0 ? 0 : Math.max(0, this.lines.end - from)
  })
  readonly currentHit = computed(() => {
    this.version.value
    return this.hitCount.value === 0 ? undefined : this.search.value.hits[this.hit.value]
  })

  /** The number of the line on top of the sight; it stays there when lines come in front of it. */
  topNumber = 0

  readonly #source: LogSource
  readonly #follower: LogFollower
  readonly #options: LogModelOptions
  readonly #closing = new AbortController()
  #changed = false
  #lookedFrom = 0
  #older: Promise<void> | undefined

  constructor(source: LogSource, options: LogModelOptions) {
    this.#source = source
    this.#options = options
    this.lines = new LogLines(options.max, source.counted)
    this.#follower = new LogFollower(
      source.open,
      {
        lines: (lines) => this.#append(lines),
        connected: (connected) => {
          this.connection.value = connected ? 'live' : 'lost'
        },
        ended: (end) => this.#ended(end),
        refused: (error) => this.#refused(error),
      },
      options.later,
    )
  }

  /** Follows the log; resolves when there is nothing more to follow. */
  async open(): Promise<void> {
    await this.#follower.run()
  }

  close(): void {
    this.#closing.abort()
    this.#follower.close()
  }

  /** How many rows there are, with those whose lines are not here yet. */
  get rows(): number {
    return this.lines.above + this.lines.count
  }

  /** Whether older lines can be asked for. */
  get hasOlder(): boolean {
    return this.#source.hasOlder(this.lines)
  }

  rowOf(number: number): number {
    const { first, above, beyond } = this.lines
    if (number >= first) return above + this.lines.indexOf(number)
    return above === 0 ? 0 : Math.max(0, number - beyond)
  }

  /** The number of the line in a row. */
  numberAt(row: number): number {
    const { above, beyond } = this.lines
    return row < above ? beyond + row : (this.lines.at(row - above)?.number ?? this.lines.end)
  }

  /** The line in a row, if it is here. */
  lineAt(row: number): LogLine | undefined {
    return this.lines.at(row - this.lines.above)
  }

  /** Says that the person has scrolled, and whether the end is to be followed from now on. */
  scrolled(follows: boolean): void {
    if (follows === this.following.peek()) return
    batch(() => {
      if (!follows) this.#stoppedAt.value = this.lines.end
      this.following.value = follows
    })
  }

  /** Goes to the newest line and stays there. */
  follow(): void {
    this.following.value = true
  }

  /** Brings a line into sight. */
  show(number: number, always = true): void {
    batch(() => {
      this.scrolled(false)
      this.reveal.value = { number, always }
    })
    if (number < this.lines.first) void this.loadOlder(number)
  }

  /** Points at a line and brings it into sight. */
  select(number: number | undefined): void {
    this.selected.value = number
    if (number !== undefined) this.show(number, false)
  }

  /** Looks for words, from the line that is on top of the sight. */
  look(words: string, from: number): void {
    const search = new LogSearch(words.trim())
    this.#lookedFrom = from
    batch(() => {
      this.search.value = search
      this.hitCount.value = 0
      this.hit.value = 0
    })
    this.#extendSearch()
    if (search.words !== '') void this.#loadAll(search)
  }

  /** Goes to another hit; around the end it begins anew. */
  step(by: 1 | -1): void {
    const count = this.hitCount.peek()
    if (count === 0) return
    this.hit.value = (this.hit.peek() + by + count) % count
    const hit = this.currentHit.peek()
    if (hit !== undefined) this.show(hit, false)
  }

  /** Gets older lines, down to the given one at least; what is being got already has to come first. */
  async loadOlder(number: number): Promise<void> {
    this.#older ??= this.#readOlder(number)
    await this.#older
    this.#older = undefined
  }

  /** The whole log as text, also what is not shown here. */
  async text(): Promise<Blob> {
    const parts: string[] = []
    for await (const page of this.#source.pages()) parts.push(page.map((line) => `${line}\n`).join(''))
    return new Blob(parts.reverse(), { type: 'text/plain;charset=utf-8' })
  }

  async #readOlder(number: number): Promise<void> {
    const { first, beyond } = this.lines
    if (!this.hasOlder || this.#closing.signal.aborted) return
    this.loadingOlder.value = true
    try {
      const from = Math.max(beyond, Math.min(number - OLDER_STEP / 10, first - OLDER_STEP))
      const older = await this.#source.older(from, first, this.#closing.signal)
      // Meanwhile the first lines may have had to go.
      if (this.lines.first === first) this.lines.prepend(older)
      this.problem.value = undefined
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.problem.value = `Older lines did not come. ${messageOf(error)}`
      }
    } finally {
      this.loadingOlder.value = false
      this.#change()
    }
  }

  async #loadAll(search: LogSearch): Promise<void> {
    while (this.hasOlder && this.search.peek() === search && !this.#closing.signal.aborted) {
      const before = this.lines.first
      await this.loadOlder(before - OLDER_STEP * 5)
      if (this.lines.first === before) return
    }
  }

  #append(lines: readonly LogLine[]): void {
    this.lines.append(lines)
    this.#change()
  }

  #ended(end: LogEnd): void {
    batch(() => {
      this.connection.value = 'ended'
      this.end.value = end
    })
    this.#change()
  }

  #refused(error: ApiError): void {
    batch(() => {
      this.connection.value = 'refused'
      this.problem.value = error.message
    })
  }

  /** Many lines may come between two pictures. */
  #change(): void {
    if (this.#changed) return
    this.#changed = true
    this.#options.frame(() => {
      this.#changed = false
      if (this.#closing.signal.aborted) return
      batch(() => {
        this.#extendSearch()
        this.version.value += 1
      })
    })
  }

  #extendSearch(): void {
    const search = this.search.peek()
    const current = search.hits[this.hit.peek()]
    search.extend(this.lines)
    batch(() => {
      this.hitCount.value = search.hits.length
      this.hit.value = search.indexFrom(current ?? this.#lookedFrom)
    })
    const first = search.hits[this.hit.peek()]
    if (current === undefined && first !== undefined) this.show(first, false)
  }
}
