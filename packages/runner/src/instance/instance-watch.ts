import { INSTANCE_BEAT_MS } from '@botcli/protocol'

/** Somewhat more often than was promised, since a busy machine is late. */
const BEAT_MS = INSTANCE_BEAT_MS - 1000
/** What is written in a rush is told of once. */
const RUSH_MS = 50
const LOOK_MS = 500
/** A cloud watches once; one that was killed may not be gone yet when the next one comes. */
const MAX_WATCHERS = 8
const BEAT = new TextEncoder().encode('{"journal":"grown"}\n')

type Watcher = ReadableStreamDefaultController<Uint8Array>

/** What the watch has to know. */
export interface InstanceWatchOptions {
  readonly orphanMs: number
  /** How many sessions are not over. */
  readonly sessions: () => number
  readonly clock?: () => number
}

/** Those who watch an instance, and the end of an instance that nobody watches. */
export class InstanceWatch {
  /** Resolves when nobody has watched for too long and there is no session. */
  readonly orphaned: Promise<void>
  readonly #options: InstanceWatchOptions
  readonly #clock: () => number
  readonly #watchers = new Set<Watcher>()
  readonly #beating = setInterval(() => this.#beat(), BEAT_MS)
  readonly #looking = setInterval(() => this.#look(), LOOK_MS)
  #rush: NodeJS.Timeout | undefined
  #again = false
  #watchedAt: number
  #giveUp: () => void = () => {}
  #closed = false

  constructor(options: InstanceWatchOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
    this.#watchedAt = this.#clock()
    this.orphaned = new Promise((resolve) => {
      this.#giveUp = resolve
    })
  }

  /** A stream of beats for one more watcher. It is watched until it is cancelled. */
  open(): ReadableStream<Uint8Array> {
    let own: Watcher | undefined
    return new ReadableStream({
      start: (watcher) => {
        own = watcher
        this.#add(watcher)
      },
      cancel: () => {
        if (own !== undefined) this.#leave(own)
      },
    })
  }

  /** The journal has grown. */
  tell(): void {
    if (this.#rush !== undefined) {
      this.#again = true
      return
    }
    this.#beat()
    if (this.#closed) return
    this.#rush = setTimeout(() => {
      this.#rush = undefined
      if (!this.#again) return
      this.#again = false
      this.tell()
    }, RUSH_MS)
  }

  /** Ends every stream. */
  close(): void {
    this.#closed = true
    clearInterval(this.#beating)
    clearInterval(this.#looking)
    clearTimeout(this.#rush)
    for (const watcher of this.#watchers) watcher.close()
    this.#watchers.clear()
  }

  #add(watcher: Watcher): void {
    watcher.enqueue(BEAT)
    if (this.#closed) {
      watcher.close()
      return
    }
    this.#watchers.add(watcher)
    const [oldest] = this.#watchers
    if (this.#watchers.size <= MAX_WATCHERS || oldest === undefined) return
    oldest.close()
    this.#leave(oldest)
  }

  #leave(watcher: Watcher): void {
    this.#watchers.delete(watcher)
    this.#watchedAt = this.#clock()
  }

  /** One that has not read the last beat yet needs no other. */
  #beat(): void {
    for (const watcher of this.#watchers) if ((watcher.desiredSize ?? 0) > 0) watcher.enqueue(BEAT)
  }

  #look(): void {
    const { sessions, orphanMs } = this.#options
    if (this.#watchers.size > 0 || sessions() > 0 || this.#clock() - this.#watchedAt < orphanMs) return
    clearInterval(this.#looking)
    this.#giveUp()
  }
}
