import { Gate } from './gate.ts'
import type { AudioFrame } from './transport.ts'

/** Frames that one slow reader may leave behind; the host stops earlier, so this only matters beside a fast reader. */
const READER_LIMIT = 128
/** The host wants to know at least this often. */
const HEARD_EVERY = 5

interface Reader {
  frames: AudioFrame[]
  readonly arrival: Gate
}

/**
 * The caller's sound on its way to the bot: it is confirmed to the host once the fastest reader has taken it. Others lose
 * their oldest, so that nobody who stands still makes the bot deaf.
 */
export class Hearing {
  readonly #confirm: (frames: number) => void
  readonly #readers = new Set<Reader>()
  #received = 0
  #confirmed = 0
  #over = false

  constructor(confirm: (frames: number) => void) {
    this.#confirm = confirm
  }

  /** Hands a frame to all readers. Without any it counts as heard, so that a later reader gets fresh sound. */
  add(frame: AudioFrame): void {
    this.#received += 1
    for (const reader of this.#readers) {
      if (reader.frames.length >= READER_LIMIT) reader.frames.shift()
      reader.frames.push(frame)
      reader.arrival.open()
    }
    this.#account()
  }

  /** Sound from now on, until the session ends. */
  async *read(): AsyncGenerator<AudioFrame, void, void> {
    const reader: Reader = { frames: [], arrival: new Gate() }
    this.#readers.add(reader)
    try {
      while (!this.#over) {
        const frame = reader.frames.shift()
        if (frame === undefined) {
          await reader.arrival.wait()
        } else {
          this.#account()
          yield frame
        }
      }
    } finally {
      this.#readers.delete(reader)
      this.#account()
    }
  }

  /** Ends all readers. */
  end(): void {
    this.#over = true
    for (const reader of this.#readers) reader.arrival.open()
  }

  #account(): void {
    let behind = this.#readers.size === 0 ? 0 : READER_LIMIT
    for (const reader of this.#readers) behind = Math.min(behind, reader.frames.length)
    const heard = this.#received - behind
    if (this.#over || heard - this.#confirmed < HEARD_EVERY) return
    this.#confirmed = heard
    this.#confirm(heard)
  }
}
