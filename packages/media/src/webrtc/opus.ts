import { Resampler, silence } from '@botcli/audio'
import { Encoder } from '@evan/opus'
import { createDecoder, type OpusDecoderHandle } from 'libopus-wasm'

const OPUS_RATES = [8000, 12000, 16000, 24000, 48000] as const
type OpusRate = (typeof OPUS_RATES)[number]

const BITRATE = 48_000
const COMPLEXITY = 5

/** The rate at which the codec itself runs: libopus converts the common ones, a resampler does the rest. */
function codecRate(rate: number): OpusRate {
  return OPUS_RATES.find((known) => known === rate) ?? 48000
}

/** Turns 20 ms of mono sound at `rate` into packets. */
export class OpusEncoder {
  readonly #encoder: Encoder
  readonly #resampler: Resampler
  readonly #frame: number

  constructor(rate: number) {
    const inner = codecRate(rate)
    this.#frame = rate / 50
    this.#resampler = new Resampler(rate, inner)
    this.#encoder = new Encoder({ channels: 1, sample_rate: inner, application: 'restricted_lowdelay' })
    this.#encoder.complexity = COMPLEXITY
    this.#encoder.bitrate = BITRATE
  }

  encode(samples: Int16Array): Uint8Array {
    return this.#encoder.encode(this.#resampler.process(samples))
  }

  /** Encodes 20 ms of silence, which also brings out what the codec still holds of the sound before. */
  encodeSilence(): Uint8Array {
    return this.encode(silence(this.#frame))
  }
}

let silentPacket: Uint8Array | undefined

/** 20 ms of silence as a packet, encoded once for all calls. */
export function silencePacket(): Uint8Array {
  silentPacket ??= Uint8Array.from(new OpusEncoder(48000).encodeSilence())
  return silentPacket
}

/** Turns packets into mono sound at `rate`, and makes up for the ones that are missing. */
export class OpusDecoder {
  readonly #decoder: OpusDecoderHandle
  readonly #resampler: Resampler
  readonly #inner: OpusRate

  static async create(rate: number): Promise<OpusDecoder> {
    const inner = codecRate(rate)
    const decoder = await createDecoder({ sampleRate: inner, channels: 1 })
    return new OpusDecoder(decoder, inner, new Resampler(inner, rate))
  }

  private constructor(decoder: OpusDecoderHandle, inner: OpusRate, resampler: Resampler) {
    this.#decoder = decoder
    this.#inner = inner
    this.#resampler = resampler
  }

  /** Throws when the packet is not Opus. */
  decode(packet: Uint8Array): Int16Array {
    return this.#resampler.process(this.#decoder.decode(packet))
  }

  /** Sound for `ms` (a multiple of 2.5) that never came. */
  conceal(ms: number): Int16Array {
    return this.#resampler.process(this.#decoder.decodePacketLoss(this.#samples(ms)))
  }

  /** The same, from the copy that the packet after the gap may carry. */
  recover(packetAfter: Uint8Array, ms: number): Int16Array {
    const options = { decodeFec: true, frameSize: this.#samples(ms) }
    return this.#resampler.process(this.#decoder.decode(packetAfter, options))
  }

  close(): void {
    this.#decoder.free()
  }

  #samples(ms: number): number {
    return Math.round((ms * this.#inner) / 1000)
  }
}
