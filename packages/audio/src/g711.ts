/** Largest magnitude that µ-law can tell apart, and what is added so that its segments are powers of two. */
const ULAW_CLIP = 32_635
const ULAW_BIAS = 132

/** What a byte of silence is. */
export const ULAW_SILENCE = 0xff
export const ALAW_SILENCE = 0xd5

const ulawToLinear = Int16Array.from({ length: 256 }, (_, byte) => expandUlaw(byte))
const alawToLinear = Int16Array.from({ length: 256 }, (_, byte) => expandAlaw(byte))
/** By sample, counted from the lowest one. */
const linearToUlaw = Uint8Array.from({ length: 65_536 }, (_, index) => compressUlaw(index - 32_768))
const linearToAlaw = Uint8Array.from({ length: 65_536 }, (_, index) => compressAlaw(index - 32_768))

/** Samples of G.711 µ-law bytes. */
export function decodeUlaw(bytes: Uint8Array): Int16Array {
  return decode(bytes, ulawToLinear)
}

/** Samples of G.711 A-law bytes. */
export function decodeAlaw(bytes: Uint8Array): Int16Array {
  return decode(bytes, alawToLinear)
}

/** G.711 µ-law bytes of samples. */
export function encodeUlaw(samples: Int16Array): Uint8Array {
  return encode(samples, linearToUlaw)
}

/** G.711 A-law bytes of samples. */
export function encodeAlaw(samples: Int16Array): Uint8Array {
  return encode(samples, linearToAlaw)
}

function decode(bytes: Uint8Array, table: Int16Array): Int16Array {
  const samples = new Int16Array(bytes.length)
  for (let index = 0; index < bytes.length; index += 1) {
    samples[index] = table[bytes[index] as number] as number
  }
  return samples
}

function encode(samples: Int16Array, table: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(samples.length)
  for (let index = 0; index < samples.length; index += 1) {
    bytes[index] = table[(samples[index] as number) + 32_768] as number
  }
  return bytes
}

function expandUlaw(byte: number): number {
  const inverted = ~byte & 0xff
  const magnitude = ((((inverted & 0x0f) << 3) + ULAW_BIAS) << ((inverted & 0x70) >> 4)) - ULAW_BIAS
  return (inverted & 0x80) === 0 ? magnitude : -magnitude
}

function compressUlaw(sample: number): number {
  const biased = Math.min(Math.abs(sample), ULAW_CLIP) + ULAW_BIAS
  const segment = 31 - Math.clz32(biased >> 7)
  const sign = sample < 0 ? 0x80 : 0
  return ~(sign | (segment << 4) | ((biased >> (segment + 3)) & 0x0f)) & 0xff
}

function expandAlaw(byte: number): number {
  const toggled = byte ^ 0x55
  const segment = (toggled & 0x70) >> 4
  const mantissa = ((toggled & 0x0f) << 4) + 8
  const magnitude = segment === 0 ? mantissa : (mantissa + 256) << (segment - 1)
  return (toggled & 0x80) === 0 ? -magnitude : magnitude
}

function compressAlaw(sample: number): number {
  const mask = sample < 0 ? 0x55 : 0xd5
  // Thirteen bits, where the negative half starts at minus one.
  const magnitude = (sample < 0 ? ~sample : sample) >> 3
  const segment = magnitude < 32 ? 0 : 31 - Math.clz32(magnitude >> 4)
  const mantissa = (magnitude >> Math.max(1, segment)) & 0x0f
  return ((segment << 4) | mantissa) ^ mask
}
