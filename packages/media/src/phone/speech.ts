import { seededRandom } from './random.ts'

/** The three lowest resonances of some vowels. */
const VOWELS = [
  [730, 1090, 2440],
  [270, 2290, 3010],
  [300, 870, 2240],
  [530, 1840, 2480],
  [570, 840, 2410],
] as const
const BANDWIDTHS = [70, 100, 140] as const
const LOUDNESS = 7000
const SILENT_MS = 40

/** Sound that is built like speech: a voice with a melody, in syllables with hisses and pauses between them. */
export function speechLike(ms: number, rate: number, seed = 1): Int16Array {
  const random = seededRandom(seed)
  const samples = new Float32Array(Math.round((ms * rate) / 1000))
  let at = 0
  while (at < samples.length) {
    if (random() < 0.5) at = hiss(samples, at, rate, random)
    at = syllable(samples, at, rate, random)
    at += Math.round((rate * (random() < 0.15 ? 120 : SILENT_MS * random())) / 1000)
  }
  return loud(samples)
}

/** A pure tone. */
export function toneOf(hertz: number, ms: number, rate: number): Int16Array {
  const step = (2 * Math.PI * hertz) / rate
  return Int16Array.from(
    { length: Math.round((ms * rate) / 1000) },
    (_, at) => LOUDNESS * Math.sin(step * at),
  )
}

function syllable(samples: Float32Array, from: number, rate: number, random: () => number): number {
  const length = Math.round(rate * (0.12 + 0.14 * random()))
  const vowel = VOWELS[Math.floor(random() * VOWELS.length)] ?? VOWELS[0]
  const filters = vowel.map((hertz, index) => resonator(hertz, BANDWIDTHS[index] ?? 100, rate))
  const pitch = 105 + 40 * random()
  const stress = 0.6 + 0.4 * random()
  let phase = 0
  for (let step = 0; step < length && from + step < samples.length; step += 1) {
    const place = step / length
    phase += (pitch * (1.08 - 0.16 * place)) / rate
    const pulse = 1 - 2 * (phase % 1) + 0.05 * (random() - 0.5)
    const envelope = stress * Math.sin(Math.PI * Math.min(1, place * 1.15)) ** 0.7 || 0
    const voiced = filters.reduce((sum, filter, index) => sum + filter(pulse) / (index + 1), 0)
    samples[from + step] = (samples[from + step] ?? 0) + envelope * voiced
  }
  return from + length
}

function hiss(samples: Float32Array, from: number, rate: number, random: () => number): number {
  const length = Math.round(rate * (0.03 + 0.04 * random()))
  let last = 0
  for (let step = 0; step < length && from + step < samples.length; step += 1) {
    const noise = random() - 0.5
    samples[from + step] = 0.5 * Math.sin((Math.PI * step) / length) * (noise - last)
    last = noise
  }
  return from + length
}

/** A filter that rings at one frequency, with a gain of about one there. */
function resonator(hertz: number, bandwidth: number, rate: number): (input: number) => number {
  const radius = Math.exp((-Math.PI * bandwidth) / rate)
  const turn = 2 * radius * Math.cos((2 * Math.PI * Math.min(hertz, 0.45 * rate)) / rate)
  const gain = 1 - radius
  let before = 0
  let last = 0
  return (input) => {
    const output = gain * input + turn * last - radius * radius * before
    before = last
    last = output
    return output
  }
}

function loud(samples: Float32Array): Int16Array {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1e-9)
  return Int16Array.from(samples, (sample) => (sample / peak) * 2 * LOUDNESS)
}
