/** The rate of the bot's sound on a WebSocket. */
const PLAYBACK_RATE = 24_000
/** How far ahead a new stretch of speech starts, so that late pieces do not tear holes into it. */
const LEAD_SECONDS = 0.1
/** A sender that is further ahead does not keep time; the rest is dropped. */
const MOST_AHEAD_SECONDS = 10

/** Plays 16-bit sound that arrives in pieces, without gaps between them. */
export class PcmPlayer {
  readonly #context = new AudioContext({ sampleRate: PLAYBACK_RATE })
  readonly #playing = new Set<AudioBufferSourceNode>()
  #end = 0

  constructor() {
    void this.#context.resume()
  }

  play(samples: Int16Array): void {
    const now = this.#context.currentTime
    const start = this.#end > now ? this.#end : now + LEAD_SECONDS
    if (samples.length === 0 || start - now > MOST_AHEAD_SECONDS) return
    const buffer = this.#context.createBuffer(1, samples.length, PLAYBACK_RATE)
    buffer.copyToChannel(
      Float32Array.from(samples, (sample) => sample / 0x8000),
      0,
    )
    const source = new AudioBufferSourceNode(this.#context, { buffer })
    source.connect(this.#context.destination)
    source.onended = () => this.#playing.delete(source)
    source.start(start)
    this.#playing.add(source)
    this.#end = start + buffer.duration
  }

  /** Falls silent at once. */
  clear(): void {
    for (const source of this.#playing) source.stop()
    this.#playing.clear()
    this.#end = 0
  }

  close(): void {
    this.clear()
    void this.#context.close()
  }
}
