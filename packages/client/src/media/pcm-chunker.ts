/**
 * Turns the sound of a browser's audio graph into 16-bit chunks of one length at one rate. When the rates
 * differ, each output sample is the mean of the input that it covers, which also keeps most of what lies above the
 * new band out of it.
 */
export class PcmChunker {
  readonly #step: number
  readonly #emit: (chunk: Int16Array<ArrayBuffer>) => void
  readonly #chunk: Int16Array
  #filled = 0
  #sum = 0
  #weight = 0

  constructor(
    fromRate: number,
    toRate: number,
    chunkSamples: number,
    emit: (chunk: Int16Array<ArrayBuffer>) => void,
  ) {
    this.#step = fromRate / toRate
    this.#chunk = new Int16Array(chunkSamples)
    this.#emit = emit
  }

  /** Takes in samples between -1 and 1. */
  push(input: Float32Array): void {
    for (const sample of input) this.#take(sample)
  }

  #take(sample: number): void {
    let left = 1
    while (left > 0) {
      const part = Math.min(left, this.#step - this.#weight)
      this.#sum += sample * part
      this.#weight += part
      left -= part
      // Rates that do not divide leave rounding errors; without the margin a sample would be lost now and then.
      if (this.#step - this.#weight > 1e-9) return
      this.#put(this.#sum / this.#step)
      this.#sum = 0
      this.#weight = 0
      if (left < 1e-9) return
    }
  }

  #put(value: number): void {
    const clipped = Math.max(-1, Math.min(1, value))
    this.#chunk[this.#filled] = Math.round(clipped < 0 ? clipped * 0x8000 : clipped * 0x7fff)
    this.#filled += 1
    if (this.#filled < this.#chunk.length) return
    this.#filled = 0
    this.#emit(this.#chunk.slice())
  }
}
