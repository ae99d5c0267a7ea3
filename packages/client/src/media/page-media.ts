import type { Tracks } from '@pipecat-ai/client-js'
import { WavMediaManager } from '@pipecat-ai/websocket-transport'
import { Microphone } from './microphone.ts'
import { PcmVoice } from './pcm-voice.ts'
import { TrackVoice } from './track-voice.ts'

/** What {@link PageMedia} needs from the page. */
export interface PageMediaOptions {
  readonly transport: 'webrtc' | 'websocket'
  readonly microphoneId: string
  readonly speakerId: string
  readonly muted: boolean
  /** The microphone could not be opened; the conversation goes on without it. */
  readonly onMicrophoneError: (error: unknown) => void
  /** The bot's sound cannot be played, or not where it was asked for. */
  readonly onSpeakerError: (error: unknown) => void
}

/**
 * The sound of one conversation, for both transports. It is the published media manager with its devices replaced:
 * the published one fails without a microphone, keeps the microphone open after the end, plays streamed sound with
 * gaps, falls silent for good after one interruption, and knows no loudspeakers.
 */
export class PageMedia extends WavMediaManager {
  readonly #options: PageMediaOptions
  readonly #voice: PcmVoice | TrackVoice
  #microphone: Microphone | undefined
  #opening: Promise<void> | undefined
  #microphoneId: string
  #muted: boolean
  #capturing = false
  #closed = false

  /** Makes the players at once, because browsers let a page play sound only right after a click. */
  constructor(options: PageMediaOptions) {
    super()
    this.#options = options
    this.#microphoneId = options.microphoneId
    this.#muted = options.muted
    this.#voice = options.transport === 'websocket' ? new PcmVoice() : new TrackVoice()
  }

  get levels(): { readonly user: number; readonly bot: number } {
    if (this.#closed) return { user: 0, bot: 0 }
    return { user: this.#microphone?.level ?? 0, bot: this.#voice.level }
  }

  get hasMicrophone(): boolean {
    return this.#microphone !== undefined
  }

  /** Opens the devices; the browser may ask for permission now. Called by the page, and again by the transports. */
  override initialize(): Promise<void> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  /** The transport is up: the bot may hear the microphone from now on. */
  override async connect(): Promise<void> {
    await this.initialize()
    this.#capturing = true
    await this.#startCapture()
  }

  override async disconnect(): Promise<void> {
    this.close()
  }

  override bufferBotAudio(data: ArrayBuffer | Int16Array): Int16Array {
    const samples = data instanceof Int16Array ? data : new Int16Array(data)
    if (this.#voice instanceof PcmVoice && !this.#closed) this.#voice.play(samples)
    return samples
  }

  /** Plays the bot's track of a peer connection. */
  playTrack(track: MediaStreamTrack): void {
    if (this.#closed || !(this.#voice instanceof TrackVoice)) return
    this.#voice.play(track).catch(this.#options.onSpeakerError)
  }

  /** Drops what the bot said and nobody has heard yet. */
  silence(): void {
    if (this.#voice instanceof PcmVoice) this.#voice.clear()
  }

  override async userStartedSpeaking(): Promise<void> {
    this.silence()
  }

  /** Changes the microphone, one change after the other, so that none is left open. */
  override updateMic(microphoneId: string): Promise<void> {
    this.#opening = this.initialize().then(() => this.#changeMicrophone(microphoneId))
    return this.#opening
  }

  override updateSpeaker(speakerId: string): void {
    this.#voice.setSpeaker(speakerId).catch(this.#options.onSpeakerError)
  }

  override async enableMic(enable: boolean): Promise<void> {
    this.#muted = !enable
    this._micEnabled = enable
    this.#microphone?.setEnabled(enable)
  }

  override get isMicEnabled(): boolean {
    return !this.#muted && this.#microphone !== undefined
  }

  /** Every call gives a new copy of the microphone's track, see {@link Microphone.lendTrack}. */
  override tracks(): Tracks {
    return { local: this.#microphone === undefined ? {} : { audio: this.#microphone.lendTrack() } }
  }

  /** Lets go of all devices. Safe to call twice. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#microphone?.close()
    this.#microphone = undefined
    this.#voice.close()
  }

  async #open(): Promise<void> {
    if (this.#options.speakerId !== '') this.updateSpeaker(this.#options.speakerId)
    await this.#openMicrophone()
  }

  async #changeMicrophone(microphoneId: string): Promise<void> {
    if (this.#closed) return
    this.#microphoneId = microphoneId
    this.#microphone?.close()
    this.#microphone = undefined
    await this.#openMicrophone()
    if (this.#capturing) await this.#startCapture()
  }

  async #openMicrophone(): Promise<void> {
    try {
      const microphone = await Microphone.open(this.#microphoneId)
      // The person may have given up while the browser was asking.
      if (this.#closed) return microphone.close()
      microphone.setEnabled(!this.#muted)
      this.#microphone = microphone
    } catch (error) {
      this.#options.onMicrophoneError(error)
    }
  }

  async #startCapture(): Promise<void> {
    if (this.#options.transport !== 'websocket') return
    await this.#microphone?.capture((chunk) => {
      if (!this.#closed) this._userAudioCallback(chunk)
    })
  }
}
