import { ALAW_SILENCE, decodeAlaw, decodeUlaw, encodeAlaw, encodeUlaw, ULAW_SILENCE } from '@botcli/audio'
import type { CarrierCodecName } from './coding.ts'

/** Turns a carrier's bytes into samples and back. */
export interface CarrierCodec {
  readonly silenceByte: number
  decode(bytes: Uint8Array): Int16Array
  encode(samples: Int16Array): Uint8Array
}

/** The codec of this name. Linear samples are little-endian unless the stream shows that they are not. */
export function carrierCodec(name: CarrierCodecName): CarrierCodec {
  switch (name) {
    case 'pcmu':
      return { silenceByte: ULAW_SILENCE, decode: decodeUlaw, encode: encodeUlaw }
    case 'pcma':
      return { silenceByte: ALAW_SILENCE, decode: decodeAlaw, encode: encodeAlaw }
    case 'l16':
      return new LinearCodec()
  }
}

/** How much smoother one reading must be than the other before it is believed. */
const SURE = 2

/**
 * Linear samples. Carriers do not say in which order their bytes are, and some follow the network's; but sound
 * is smooth when it is read in the right order and noise in the other, so the first sound tells.
 */
class LinearCodec implements CarrierCodec {
  readonly silenceByte = 0
  #swapped: boolean | undefined

  decode(bytes: Uint8Array): Int16Array {
    // A copy, because the bytes may sit at an odd offset; what is no whole sample is left out.
    const samples = new Int16Array(new Uint8Array(bytes).buffer, 0, bytes.length >> 1)
    this.#swapped ??= isSwapped(samples)
    return this.#swapped ? swapped(samples) : samples
  }

  encode(samples: Int16Array): Uint8Array {
    const { buffer, byteOffset, byteLength } = this.#swapped ? swapped(samples) : samples
    return new Uint8Array(buffer, byteOffset, byteLength)
  }
}

/** Whether the bytes of these samples are in the wrong order; nothing when it cannot be told. */
function isSwapped(samples: Int16Array): boolean | undefined {
  const asIs = roughness(samples)
  const turned = roughness(swapped(samples))
  if (asIs > SURE * turned) return true
  return turned > SURE * asIs ? false : undefined
}

function roughness(samples: Int16Array): number {
  let sum = 0
  for (let index = 1; index < samples.length; index += 1) {
    sum += Math.abs((samples[index] as number) - (samples[index - 1] as number))
  }
  return sum
}

function swapped(samples: Int16Array): Int16Array {
  return samples.map((sample) => ((sample & 0xff) << 8) | ((sample >> 8) & 0xff))
}
