import { Resampler } from '@botcli/audio'
import { ChunkOrder, type NumberedChunk } from './chunk-order.ts'
import type { CarrierCodec } from './codec.ts'

/** What a caller says before the bot listens is kept for it, up to a second of it. */
const EARLY_MS = 1000
const STEP_MS = 20

/** What the caller's sound is made of. */
export interface CallerSoundOptions {
  readonly codec: CarrierCodec
  readonly rate: number
  /** Hears the sound in steps of 20 ms and less, at the rate of the bot. */
  readonly emit: (samples: Int16Array, arrivedAt: number) => void
}

interface EarlySound {
  readonly samples: Int16Array
  readonly arrivedAt: number
}

/** The caller's sound on its way in: put in order, decoded, at the bot's rate, in steps as they come. */
export class CallerSound {
  readonly #options: CallerSoundOptions
  readonly #order = new ChunkOrder()
  #early: EarlySound[] = []
  #earlySamples = 0
  #resampler: Resampler | undefined
  #stepSamples = 0

  constructor(options: CallerSoundOptions) {
    this.#options = options
  }

  /** The rate at which the bot hears. What came before is passed on with the next step or piece. */
  setRate(rate: number): void {
    this.#resampler = new Resampler(this.#options.rate, rate)
    this.#stepSamples = (rate * STEP_MS) / 1000
  }

  /** Takes a piece in. One without a number is passed on as it comes. */
  push(chunk: number | undefined, bytes: Uint8Array, arrivedAt: number): void {
    if (chunk === undefined) this.#take({ bytes, arrivedAt })
    else for (const piece of this.#order.push({ chunk, bytes, arrivedAt })) this.#take(piece)
  }

  /** Called on each 20 ms step: what waits for a lost piece waits no longer. */
  step(now: number): void {
    this.#passEarly()
    for (const piece of this.#order.expire(now)) this.#take(piece)
  }

  #take({ bytes, arrivedAt }: Omit<NumberedChunk, 'chunk'>): void {
    const samples = this.#options.codec.decode(bytes)
    if (this.#resampler === undefined) this.#keep({ samples, arrivedAt })
    else {
      this.#passEarly()
      this.#pass(this.#resampler, samples, arrivedAt)
    }
  }

  #keep(sound: EarlySound): void {
    if (sound.samples.length === 0) return
    this.#early.push(sound)
    this.#earlySamples += sound.samples.length
    const limit = (this.#options.rate * EARLY_MS) / 1000
    while (this.#earlySamples > limit) this.#earlySamples -= this.#early.shift()?.samples.length ?? 0
  }

  #passEarly(): void {
    if (this.#resampler === undefined || this.#early.length === 0) return
    const early = this.#early
    this.#early = []
    for (const { samples, arrivedAt } of early) this.#pass(this.#resampler, samples, arrivedAt)
  }

  #pass(resampler: Resampler, samples: Int16Array, arrivedAt: number): void {
    const sound = resampler.process(samples)
    for (let offset = 0; offset < sound.length; offset += this.#stepSamples) {
      this.#options.emit(sound.subarray(offset, offset + this.#stepSamples), arrivedAt)
    }
  }
}
