import { SampleQueue } from '@botcli/audio'
import { MAX_AUDIO_OUT_MS } from '@botcli/protocol'

/** How far the bot may run ahead of the caller's ear. */
const CREDIT_MS = 400
/** A bot that makes its sound no faster than it is played gets this much of a head start, after it has run dry. */
const CUSHION_MS = 40
const STEP_MS = 20
/** Sound that comes again within so many steps belongs to what was being said. */
const HICCUP_STEPS = 5

/** Where the caller's ear is in what the bot has said since its last `clear`. Both numbers count samples. */
export interface PlayoutPosition {
  readonly epoch: number
  readonly played: number
  /** How much the bot may have sent in all. */
  readonly limit: number
}

/** The bot's sound on its way to the wire: it counts, paces by steps of 20 ms, and never grows without bound. */
export class Playout {
  readonly #queue = new SampleQueue()
  readonly #stepSamples: number
  readonly #creditSamples: number
  readonly #longestPiece: number
  readonly #cushionSamples: number
  #epoch = 0
  #played = 0
  #received = 0
  #speaking = false
  #waited = false
  /** Whether what is being said, or was said last, had no hiccup. After one a bot gets a head start. */
  #smooth = true
  #drySteps = Number.POSITIVE_INFINITY

  constructor(rate: number) {
    this.#stepSamples = (rate * STEP_MS) / 1000
    this.#creditSamples = (rate * CREDIT_MS) / 1000
    this.#longestPiece = (rate * MAX_AUDIO_OUT_MS) / 1000
    this.#cushionSamples = (rate * CUSHION_MS) / 1000
  }

  get position(): PlayoutPosition {
    return { epoch: this.#epoch, played: this.#played, limit: this.#played + this.#creditSamples }
  }

  /** Whether everything that was sent has been played. */
  get idle(): boolean {
    return this.#queue.length === 0
  }

  /** Whether it is in the middle of an utterance. */
  get speaking(): boolean {
    return this.#speaking
  }

  /** Whether the next step can be made without waiting for more. */
  get ready(): boolean {
    return this.#queue.length >= this.#needed
  }

  /** Takes sound in. False when the bot sent more than it was ever granted, or too much at once. */
  accept(epoch: number, samples: Int16Array): boolean {
    if (samples.length > this.#longestPiece) return false
    if (epoch !== this.#epoch) return epoch < this.#epoch
    this.#received += samples.length
    if (this.#received > this.#played + this.#creditSamples) return false
    this.#queue.push(samples)
    return true
  }

  /** Forgets what was not played, and begins the next epoch. Gives what was played of the last one; nothing for a wrong epoch. */
  clear(epoch: number): number | undefined {
    if (epoch !== this.#epoch + 1) return undefined
    const played = this.#played
    this.#queue.clear()
    this.#epoch = epoch
    this.#played = 0
    this.#received = 0
    this.#speaking = false
    this.#waited = false
    this.#drySteps = Number.POSITIVE_INFINITY
    return played
  }

  /** The next 20 ms, or nothing when there is nothing to say in this step. */
  next(): Int16Array | undefined {
    if (this.#queue.length === 0) {
      this.#drySteps = this.#speaking ? 1 : this.#drySteps + 1
      this.#speaking = false
      return undefined
    }
    if (!this.ready && !this.#waited) {
      this.#waited = true
      return undefined
    }
    if (!this.#speaking) this.#begin()
    this.#waited = false
    const samples = this.#queue.read(this.#stepSamples)
    this.#played += samples.length
    return samples.length === this.#stepSamples ? samples : padded(samples, this.#stepSamples)
  }

  /** What has to be there for the next step. */
  get #needed(): number {
    if (this.#speaking) return this.#stepSamples
    return this.#isHiccup || !this.#smooth ? this.#cushionSamples : this.#stepSamples
  }

  get #isHiccup(): boolean {
    return this.#drySteps <= HICCUP_STEPS
  }

  #begin(): void {
    this.#speaking = true
    this.#smooth = !this.#isHiccup
  }
}

function padded(samples: Int16Array, length: number): Int16Array {
  const full = new Int16Array(length)
  full.set(samples)
  return full
}
