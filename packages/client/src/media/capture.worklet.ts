import { PcmChunker } from './pcm-chunker.ts'

// The globals of an audio worklet, which the DOM's own types leave out.
declare const sampleRate: number
declare function registerProcessor(name: string, processor: unknown): void
declare class AudioWorkletProcessor {
  readonly port: MessagePort
}

const SILENCE = new Float32Array(128)

interface CaptureOptions {
  readonly processorOptions: { readonly rate: number; readonly chunkSamples: number }
}

/** Posts the microphone's sound as 16-bit chunks, and lets it through for the level meter. */
class CaptureProcessor extends AudioWorkletProcessor {
  readonly #chunker: PcmChunker

  constructor(options: CaptureOptions) {
    super()
    const { rate, chunkSamples } = options.processorOptions
    this.#chunker = new PcmChunker(sampleRate, rate, chunkSamples, (chunk) => {
      this.port.postMessage(chunk.buffer, [chunk.buffer])
    })
  }

  process(
    inputs: readonly (readonly Float32Array[])[],
    outputs: readonly (readonly Float32Array[])[],
  ): boolean {
    // A source without sound gives no channel at all; time goes on all the same.
    const heard = inputs[0]?.[0] ?? SILENCE
    this.#chunker.push(heard)
    outputs[0]?.[0]?.set(heard)
    return true
  }
}

registerProcessor('capture', CaptureProcessor)
