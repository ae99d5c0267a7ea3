/** Taps of the filter, counted in samples of the lower of the two rates. Sets steepness and a delay of half of it. */
const TAPS = 48
/** Where the filter is 6 dB down, as a part of the lower Nyquist frequency. */
const CUTOFF = 0.96
/** Shape of the Kaiser window: about 80 dB of stop band. */
const KAISER_BETA = 7.9
/** Banks are shared between calls; rates are few in practice, so the bound is never met by honest use. */
const MAX_BANKS = 32

interface FilterBank {
  /** Output samples for every `step` input samples. */
  readonly phases: number
  readonly step: number
  /** Length of one phase's filter, a multiple of four. */
  readonly taps: number
  /** `phases` filters after each other, each stored oldest input first. */
  readonly weights: Float32Array
}

const banks = new Map<string, FilterBank>()

/**
 * Changes the sample rate of a stream with a polyphase windowed sinc. It works on whatever it is given: 20 ms
 * in give 20 ms out from the first call on, delayed by half the filter (1.5 ms at 16 kHz).
 */
export class Resampler {
  readonly #bank: FilterBank | undefined
  /** The newest input that the next call still needs, then that call's input. */
  #input: Float32Array
  /** Whole and fractional place of the next output, from the first new input sample. */
  #offset = 0
  #phase = 0

  constructor(fromRate: number, toRate: number) {
    assertRate(fromRate)
    assertRate(toRate)
    this.#bank = fromRate === toRate ? undefined : filterBank(fromRate, toRate)
    this.#input = new Float32Array(this.#bank?.taps ?? 0)
  }

  /** The same sound at the other rate. Equal rates give back what came in. */
  process(samples: Int16Array): Int16Array {
    const bank = this.#bank
    if (bank === undefined || samples.length === 0) return samples
    const { phases, step, taps, weights } = bank
    const input = this.#load(samples, taps)
    const output = new Int16Array(outputLength(samples.length, this.#offset, this.#phase, bank))
    let offset = this.#offset
    let phase = this.#phase
    for (let index = 0; index < output.length; index += 1) {
      output[index] = toInt16(dot(input, offset + 1, weights, phase * taps, taps))
      phase += step
      offset += Math.trunc(phase / phases)
      phase %= phases
    }
    this.#offset = offset - samples.length
    this.#phase = phase
    input.copyWithin(0, samples.length, samples.length + taps)
    return output
  }

  /** Forgets the sound so far, as if new. */
  reset(): void {
    this.#input.fill(0)
    this.#offset = 0
    this.#phase = 0
  }

  #load(samples: Int16Array, taps: number): Float32Array {
    const needed = taps + samples.length
    if (this.#input.length < needed) {
      const grown = new Float32Array(needed)
      grown.set(this.#input.subarray(0, taps))
      this.#input = grown
    }
    this.#input.set(samples, taps)
    return this.#input
  }
}

/** Outputs whose place lies within the new input. */
function outputLength(count: number, offset: number, phase: number, bank: FilterBank): number {
  const room = (count - offset) * bank.phases - phase
  return Math.max(0, Math.ceil(room / bank.step))
}

/** The hot loop: four sums side by side, because one sum would wait for itself. */
function dot(a: Float32Array, aStart: number, b: Float32Array, bStart: number, count: number): number {
  let sum0 = 0
  let sum1 = 0
  let sum2 = 0
  let sum3 = 0
  for (let i = 0; i < count; i += 4) {
    sum0 += (a[aStart + i] as number) * (b[bStart + i] as number)
    sum1 += (a[aStart + i + 1] as number) * (b[bStart + i + 1] as number)
    sum2 += (a[aStart + i + 2] as number) * (b[bStart + i + 2] as number)
    sum3 += (a[aStart + i + 3] as number) * (b[bStart + i + 3] as number)
  }
  return sum0 + sum1 + sum2 + sum3
}

function toInt16(value: number): number {
  if (value >= 32767) return 32767
  if (value <= -32768) return -32768
  return Math.round(value)
}

function filterBank(fromRate: number, toRate: number): FilterBank {
  const key = `${fromRate}:${toRate}`
  const known = banks.get(key)
  if (known !== undefined) return known
  const bank = designBank(fromRate, toRate)
  if (banks.size >= MAX_BANKS) banks.clear()
  banks.set(key, bank)
  return bank
}

function designBank(fromRate: number, toRate: number): FilterBank {
  const divisor = greatestCommonDivisor(fromRate, toRate)
  const phases = toRate / divisor
  const step = fromRate / divisor
  const narrowing = Math.min(1, toRate / fromRate)
  const taps = 4 * Math.ceil(TAPS / narrowing / 4)
  const cutoff = CUTOFF * narrowing
  const weights = new Float32Array(phases * taps)
  for (let phase = 0; phase < phases; phase += 1) {
    const row = weights.subarray(phase * taps, (phase + 1) * taps)
    let sum = 0
    for (let tap = 0; tap < taps; tap += 1) {
      // The last tap is the newest input; an output lies `phase / phases` of a sample after it, less the delay.
      const distance = tap - (taps / 2 - 1) - phase / phases
      const weight = cutoff * sinc(cutoff * distance) * kaiser(distance / (taps / 2))
      row[tap] = weight
      sum += weight
    }
    // Every phase passes steady sound alike; otherwise the rate itself would be heard as a tone.
    for (let tap = 0; tap < taps; tap += 1) row[tap] = (row[tap] ?? 0) / sum
  }
  return { phases, step, taps, weights }
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

function kaiser(x: number): number {
  if (Math.abs(x) > 1) return 0
  return besselI0(KAISER_BETA * Math.sqrt(1 - x * x)) / besselI0(KAISER_BETA)
}

function besselI0(x: number): number {
  let sum = 1
  let term = 1
  for (let k = 1; term > sum * 1e-12; k += 1) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}

function assertRate(rate: number): void {
  if (Number.isInteger(rate) && rate >= 8000 && rate <= 48000 && rate % 50 === 0) return
  throw new RangeError(`${rate} Hz is not a rate we can convert; use a multiple of 50 from 8000 to 48000`)
}
