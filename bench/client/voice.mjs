import { Encoder } from '@evan/opus'

const RATE = 48_000
const FRAME = RATE / 50
/** Two seconds, sent over and over. */
const FRAMES = 100
const PITCH = 140
const SYLLABLES_PER_SECOND = 4

/**
 * Two seconds of a sound with the pitch, overtones and rhythm of speech but no pauses, as a browser would encode it.
 * @returns {Uint8Array[]} Opus packets of 20 ms
 */
export function encodeVoice() {
  const encoder = new Encoder({ channels: 1, sample_rate: RATE, application: 'voip' })
  encoder.bitrate = 32_000
  encoder.complexity = 5
  return Array.from({ length: FRAMES }, (_, frame) => {
    const samples = Int16Array.from({ length: FRAME }, (_, index) => sampleAt((frame * FRAME + index) / RATE))
    return Uint8Array.from(encoder.encode(samples))
  })
}

/** @param {number} seconds */
function sampleAt(seconds) {
  const loudness = 0.65 + 0.35 * Math.sin(2 * Math.PI * SYLLABLES_PER_SECOND * seconds)
  let sum = 0
  for (let overtone = 1; overtone <= 12; overtone += 1) {
    sum += Math.sin(2 * Math.PI * PITCH * overtone * seconds) / overtone
  }
  return Math.round(7000 * loudness * sum)
}
