import { ALAW_SILENCE, decodeAlaw, decodeUlaw, encodeAlaw, encodeUlaw, ULAW_SILENCE } from '@botcli/audio'
import type { AudioCoding } from './coding.ts'

/** Turns a carrier's bytes into samples and back. */
export interface CarrierCodec {
  readonly silenceByte: number
  decode(bytes: Uint8Array): Int16Array
  encode(samples: Int16Array): Uint8Array
}

/** The codec of this coding. */
export function carrierCodec({ codec, bigEndian = false }: Omit<AudioCoding, 'rate'>): CarrierCodec {
  switch (codec) {
    case 'pcmu':
      return { silenceByte: ULAW_SILENCE, decode: decodeUlaw, encode: encodeUlaw }
    case 'pcma':
      return { silenceByte: ALAW_SILENCE, decode: decodeAlaw, encode: encodeAlaw }
    case 'l16':
      return bigEndian ? BIG_ENDIAN : LITTLE_ENDIAN
  }
}

const LITTLE_ENDIAN: CarrierCodec = {
  silenceByte: 0,
  // A copy, because the bytes may sit at an odd offset; what is no whole sample is left out.
  decode: (bytes) => new Int16Array(new Uint8Array(bytes).buffer, 0, bytes.length >> 1),
  encode: ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
}

const BIG_ENDIAN: CarrierCodec = {
  silenceByte: 0,
  decode: (bytes) => swapped(LITTLE_ENDIAN.decode(bytes)),
  encode: (samples) => LITTLE_ENDIAN.encode(swapped(samples)),
}

function swapped(samples: Int16Array): Int16Array {
  return samples.map((sample) => ((sample & 0xff) << 8) | ((sample >> 8) & 0xff))
}
