import { type CarrierCodec, carrierCodec } from '../carriers/codec.ts'
import type { AudioCoding } from '../carriers/coding.ts'

/** How a carrier codes. Unlike a runner it does not guess the order of bytes: its own is little-endian. */
export function phoneCodec({ codec }: AudioCoding): CarrierCodec {
  const own = carrierCodec(codec)
  if (codec !== 'l16') return own
  return {
    silenceByte: own.silenceByte,
    encode: (samples) => own.encode(samples),
    decode: (bytes) => new Int16Array(new Uint8Array(bytes).buffer, 0, bytes.length >> 1),
  }
}
