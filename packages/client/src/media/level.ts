/** The quietest and the loudest sound that the meters tell apart, in decibels below full scale. */
const FLOOR_DB = -58
const CEILING_DB = -8

/** How loud samples between -1 and 1 are to the ear, from 0 (silence) to 1. */
export function levelOf(samples: Float32Array): number {
  let power = 0
  for (const sample of samples) power += sample * sample
  if (power === 0) return 0
  const decibels = 10 * Math.log10(power / samples.length)
  return Math.max(0, Math.min(1, (decibels - FLOOR_DB) / (CEILING_DB - FLOOR_DB)))
}

/** Reads the level at one point of an audio graph. */
export class LevelMeter {
  readonly node: AnalyserNode
  readonly #samples: Float32Array<ArrayBuffer>

  constructor(context: BaseAudioContext) {
    this.node = context.createAnalyser()
    // About 40 ms at the rates in use: long enough for the lowest voice, short enough to look alive.
    this.node.fftSize = context.sampleRate > 32_000 ? 2048 : 1024
    this.#samples = new Float32Array(this.node.fftSize)
  }

  /** The level now, from 0 to 1. */
  read(): number {
    this.node.getFloatTimeDomainData(this.#samples)
    return levelOf(this.#samples)
  }
}
