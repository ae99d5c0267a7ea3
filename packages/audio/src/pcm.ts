/** Root mean square above which sound counts as voiced: about -40 dB of full scale. */
export const VOICED_RMS = 320

/** `count` samples of digital silence. */
export function silence(count: number): Int16Array {
  return new Int16Array(count)
}

/** Whether a piece of sound is louder than room noise. A cheap gate for meters, not a speech detector. */
export function isVoiced(samples: Int16Array, threshold: number = VOICED_RMS): boolean {
  if (samples.length === 0) return false
  let energy = 0
  for (const sample of samples) energy += sample * sample
  return energy > threshold * threshold * samples.length
}

/** Whole samples in `ms` milliseconds at `rate`, rounded to the nearest. */
export function msToSamples(ms: number, rate: number): number {
  return Math.round((ms * rate) / 1000)
}

/** Milliseconds that `count` samples last at `rate`. */
export function samplesToMs(count: number, rate: number): number {
  return (count * 1000) / rate
}
