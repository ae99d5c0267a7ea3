import type { BotVoice } from './bot-voice.ts'
import { LevelMeter } from './level.ts'
import { Playout } from './playout.ts'

/** The rate at which the WebSocket transport gets the bot's sound. */
export const PLAYBACK_RATE = 24_000

/** Choosing an output for Web Audio is newer than the types that come with the compiler. */
interface SinkContext {
  setSinkId?(deviceId: string): Promise<void>
}

/** Plays 16-bit sound as it arrives in pieces. */
export class PcmVoice implements BotVoice {
  readonly #context = new AudioContext({ sampleRate: PLAYBACK_RATE, latencyHint: 'interactive' })
  readonly #meter = new LevelMeter(this.#context)
  readonly #playout = new Playout()
  readonly #playing = new Set<AudioBufferSourceNode>()

  constructor() {
    this.#meter.node.connect(this.#context.destination)
    void this.#context.resume()
  }

  get level(): number {
    return this.#meter.read()
  }

  /** Queues a piece behind the ones before it. */
  play(samples: Int16Array): void {
    if (samples.length === 0 || this.#context.state === 'closed') return
    const start = this.#playout.place(this.#context.currentTime, samples.length / PLAYBACK_RATE)
    if (start === undefined) return
    const buffer = this.#context.createBuffer(1, samples.length, PLAYBACK_RATE)
    buffer.copyToChannel(
      Float32Array.from(samples, (sample) => sample / 0x8000),
      0,
    )
    const source = this.#context.createBufferSource()
    source.buffer = buffer
    source.connect(this.#meter.node)
    source.onended = () => this.#playing.delete(source)
    this.#playing.add(source)
    source.start(start)
  }

  /** Falls silent at once. */
  clear(): void {
    for (const source of this.#playing) source.stop()
    this.#playing.clear()
    this.#playout.clear()
  }

  async setSpeaker(deviceId: string): Promise<void> {
    await (this.#context as SinkContext).setSinkId?.(deviceId)
  }

  close(): void {
    this.clear()
    if (this.#context.state !== 'closed') void this.#context.close()
  }
}
