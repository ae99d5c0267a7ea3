import { LocalMedia } from './local-media'
import { captureMicrophone } from './microphone-capture'
import { PcmPlayer } from './pcm-player'

/** Media for a transport that carries sound as samples, not as tracks. */
export class StreamedMedia extends LocalMedia {
  #onSound: (chunk: ArrayBuffer) => void = () => {}
  #player: PcmPlayer | undefined

  setUserAudioCallback(onSound: (chunk: ArrayBuffer) => void): void {
    this.#onSound = onSound
  }

  override async connect(): Promise<void> {
    await super.connect()
    if (this.closed) return
    this.#player ??= new PcmPlayer()
    if (this.graph === undefined) return
    await captureMicrophone(this.graph, (chunk) => this.#onSound(chunk)).catch((error: unknown) => {
      // Somebody who hangs up takes the microphone away.
      if (!this.closed) throw error
    })
  }

  override close(): void {
    super.close()
    this.#player?.close()
    this.#player = undefined
  }

  bufferBotAudio(data: ArrayBuffer | Int16Array): Int16Array {
    const samples = data instanceof Int16Array ? data : new Int16Array(data)
    this.#player?.play(samples)
    return samples
  }

  /** Drops what nobody has heard yet. */
  silence(): void {
    this.#player?.clear()
  }
}
