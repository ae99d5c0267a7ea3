import type { BotVoice } from './bot-voice.ts'
import { LevelMeter } from './level.ts'

/** Plays the audio track of a peer connection. */
export class TrackVoice implements BotVoice {
  readonly #element = new Audio()
  readonly #context = new AudioContext()
  readonly #meter = new LevelMeter(this.#context)
  #source: MediaStreamAudioSourceNode | undefined

  constructor() {
    this.#element.autoplay = true
    void this.#context.resume()
  }

  get level(): number {
    return this.#meter.read()
  }

  /** Plays this track instead of the one before. Rejects when the browser forbids it. */
  async play(track: MediaStreamTrack): Promise<void> {
    const stream = new MediaStream([track])
    this.#element.srcObject = stream
    this.#source?.disconnect()
    this.#source = this.#context.createMediaStreamSource(stream)
    this.#source.connect(this.#meter.node)
    await this.#element.play()
  }

  async setSpeaker(deviceId: string): Promise<void> {
    if ('setSinkId' in this.#element) await this.#element.setSinkId(deviceId)
  }

  close(): void {
    this.#element.pause()
    this.#element.srcObject = null
    this.#source?.disconnect()
    if (this.#context.state !== 'closed') void this.#context.close()
  }
}
