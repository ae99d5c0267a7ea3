import { Resampler, SampleQueue, samplesToMs, silence } from '@botcli/audio'
import { ChunkPacker } from './chunk-packer.ts'
import type { CarrierCodec } from './codec.ts'
import type { ChunkRule } from './dialect.ts'
import { dtmfTones } from './dtmf-tones.ts'

const STEP_MS = 20
/** Keys that wait beyond this are left out. */
const MAX_TONES_MS = 20_000

/** What the bot's sound is made of. */
export interface BotSoundOptions {
  readonly codec: CarrierCodec
  readonly rate: number
  readonly chunks: ChunkRule | undefined
  readonly sendChunk: (bytes: Uint8Array) => void
  readonly sendMark: (name: string) => void
}

/** The bot's sound on its way out: at the carrier's rate, in its pieces, with a mark after each utterance. */
export class BotSound {
  readonly #options: BotSoundOptions
  readonly #packer: ChunkPacker
  readonly #stepSamples: number
  readonly #tones = new SampleQueue()
  #resampler: Resampler | undefined
  /** A step of silence at the rate of the bot. */
  #botStep: Int16Array = new Int16Array()
  /** Whether sound was sent that no mark follows yet. */
  #speaking = false
  /** Whether the last step of it was silence, which brings the last sound out of the filter. */
  #trailed = false
  #marks = 0
  #openMark: string | undefined

  constructor(options: BotSoundOptions) {
    this.#options = options
    this.#packer = new ChunkPacker(options.chunks, options.codec.silenceByte, options.sendChunk)
    this.#stepSamples = (options.rate * STEP_MS) / 1000
  }

  /** The rate at which the bot speaks. */
  setRate(rate: number): void {
    this.#resampler = new Resampler(rate, this.#options.rate)
    this.#botStep = silence((rate * STEP_MS) / 1000)
  }

  /** Whether the carrier still has something to play, as far as its marks tell. */
  get unplayed(): boolean {
    return this.#openMark !== undefined
  }

  /** Sends 20 ms of sound. */
  sound(samples: Int16Array): void {
    this.#trailed = false
    this.#send(samples)
  }

  /** A step without sound. One alone may be a bot that is late; the second is the end of what it had to say. */
  nothing(): void {
    if (this.#tones.length > 0) this.sound(this.#botStep)
    else if (!this.#speaking) return
    else if (this.#trailed) this.#endUtterance()
    else this.#trail()
  }

  /** Keys, as sounds. */
  press(keys: string): void {
    if (samplesToMs(this.#tones.length, this.#options.rate) > MAX_TONES_MS) return
    this.#tones.push(dtmfTones(keys, this.#options.rate))
  }

  /** What was said and not played is taken back. */
  clear(): void {
    this.#resampler?.reset()
    this.#packer.clear()
    this.#speaking = false
    this.#openMark = undefined
  }

  /** The carrier has played everything before this mark. */
  played(mark: string): void {
    if (mark === this.#openMark) this.#openMark = undefined
  }

  /** Sends all that is left, at once. Gives how long it lasts beyond what was due anyway. */
  finish(): number {
    const leftMs = samplesToMs(this.#tones.length, this.#options.rate)
    while (this.#tones.length > 0) this.sound(this.#botStep)
    if (this.#speaking && !this.#trailed) this.#trail()
    if (this.#speaking) this.#endUtterance()
    return leftMs
  }

  #trail(): void {
    this.#trailed = true
    this.#send(this.#botStep)
  }

  #send(samples: Int16Array): void {
    this.#speaking = true
    const sound = this.#resampler?.process(samples) ?? silence(this.#stepSamples)
    const tones = this.#tones.read(this.#stepSamples)
    this.#packer.push(this.#options.codec.encode(tones.length === 0 ? sound : mixed(sound, tones)))
  }

  #endUtterance(): void {
    this.#speaking = false
    this.#packer.flush()
    this.#marks += 1
    this.#openMark = `said-${this.#marks}`
    this.#options.sendMark(this.#openMark)
  }
}

function mixed(sound: Int16Array, tones: Int16Array): Int16Array {
  return sound.map((sample, index) => {
    return Math.max(-32_768, Math.min(32_767, sample + (tones[index] ?? 0)))
  })
}
