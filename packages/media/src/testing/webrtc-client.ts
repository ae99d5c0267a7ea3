import { Audio, type DataChannel, PeerConnection, type Track } from 'node-datachannel'
import { OpusDecoder, OpusEncoder } from '../webrtc/opus.ts'
import { buildRtp, isRtcp, parseRtp } from '../webrtc/rtp.ts'
import { until } from './until.ts'

const PAYLOAD_TYPE = 111
const OPUS_PROFILE = 'minptime=10;useinbandfec=1'

/** What a test client needs. */
export interface WebrtcTestClientOptions {
  /** Carries an offer to the server and brings back its answer. */
  readonly signal: (offer: string) => Promise<string>
  /** Rate of the sound on both sides of this client. */
  readonly rate?: number
  /** Changes an offer before it is sent. */
  readonly editOffer?: (sdp: string) => string
  readonly onAudio?: (samples: Int16Array) => void
  readonly onMessage?: (text: string) => void
}

/** A caller without a browser: a real peer connection that offers sound and a data channel. */
export class WebrtcTestClient {
  /** Everything that the server said over the data channel, as text. */
  readonly messages: string[] = []
  /** RTP packets from the server, as they came. */
  readonly packets: Uint8Array[] = []
  readonly reports: Uint8Array[] = []
  readonly #options: WebrtcTestClientOptions
  readonly #rate: number
  readonly #ssrc = Math.floor(Math.random() * 0xffffffff)
  readonly #encoder: OpusEncoder
  #decoder: OpusDecoder | undefined
  readonly #samples: Int16Array[] = []
  #native: PeerConnection
  #track: Track
  #channel: DataChannel
  #sequence = 0
  #timestamp = 0
  #phase = 0
  #closed = false

  constructor(options: WebrtcTestClientOptions) {
    this.#options = options
    this.#rate = options.rate ?? 16000
    this.#encoder = new OpusEncoder(this.#rate)
    ;({ native: this.#native, track: this.#track, channel: this.#channel } = this.#create())
  }

  get state(): string {
    return this.#closed ? 'closed' : this.#native.state()
  }

  /** All sound heard so far, as one piece. */
  get heard(): Int16Array {
    const all = new Int16Array(this.#samples.reduce((sum, part) => sum + part.length, 0))
    let at = 0
    for (const part of this.#samples) {
      all.set(part, at)
      at += part.length
    }
    return all
  }

  /** Forgets the sound heard so far. */
  forget(): void {
    this.#samples.length = 0
  }

  /** Offers, takes the answer, and waits until sound and messages can flow. */
  async connect(): Promise<void> {
    await this.negotiate()
    await until('the client is connected', () => this.state === 'connected' && this.#channel.isOpen())
  }

  /** Offers once (or once more) and takes the answer. */
  async negotiate(): Promise<void> {
    this.#decoder ??= await OpusDecoder.create(this.#rate)
    this.accept(await this.#options.signal(await this.createOffer()))
  }

  /** Drops the peer connection and makes a new one, as a client does that was cut off. */
  async reconnect(): Promise<void> {
    this.#native.close()
    ;({ native: this.#native, track: this.#track, channel: this.#channel } = this.#create())
    await this.connect()
  }

  /**
   * Without candidates: the library is slow to get ready for DTLS as the offering side, and would miss the start
   * of a server that found its way too early. The server learns our address from our first packet.
   */
  async createOffer(): Promise<string> {
    this.#native.setLocalDescription('offer')
    await until('the client knows its addresses', () => this.#native.gatheringState() === 'complete')
    const sdp = (this.#native.localDescription()?.sdp ?? '').replace(/a=candidate:.*\r\n/g, '')
    return this.#options.editOffer?.(sdp) ?? sdp
  }

  /** As an offerer, the library needs the fingerprint before the first candidate, or DTLS may fail. */
  accept(answer: string): void {
    const lines = answer.split('\r\n')
    const isCandidate = (line: string) => line.startsWith('a=candidate:')
    this.#native.setRemoteDescription(lines.filter((line) => !isCandidate(line)).join('\r\n'), 'answer')
    for (const line of lines.filter(isCandidate)) this.#native.addRemoteCandidate(line.slice(2), '0')
  }

  /** Sends 20 ms of sound now. */
  sendAudio(samples: Int16Array): void {
    this.sendRtp(this.#encoder.encode(samples), 1)
  }

  /** Sends a tone in real time: one frame every 20 ms. */
  async sendTone(hertz: number, ms: number): Promise<void> {
    const begin = performance.now()
    for (let sent = 0; sent < ms && !this.#closed; sent += 20) {
      this.sendAudio(this.#tone(hertz))
      const wait = begin + sent + 20 - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }

  /** Sends one packet; `steps` of 20 ms pass until the next. Nothing is sent for a payload of null: it is lost. */
  sendRtp(payload: Uint8Array | null, steps: number): void {
    const packet = payload && {
      payloadType: PAYLOAD_TYPE,
      marker: false,
      sequence: this.#sequence & 0xffff,
      timestamp: this.#timestamp >>> 0,
      ssrc: this.#ssrc,
      payload,
    }
    this.#sequence += 1
    this.#timestamp += 960 * steps
    if (packet !== null && this.#track.isOpen()) this.#track.sendMessageBinary(buildRtp(packet))
  }

  send(message: unknown): void {
    this.sendText(JSON.stringify(message))
  }

  sendText(text: string): void {
    this.#channel.sendMessage(text)
  }

  sendBinary(bytes: Uint8Array): void {
    this.#channel.sendMessageBinary(bytes)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#native.close()
    this.#decoder?.close()
  }

  #create(): { native: PeerConnection; track: Track; channel: DataChannel } {
    const native = new PeerConnection('client', { iceServers: [], disableAutoNegotiation: true })
    const audio = new Audio('0', 'SendRecv')
    audio.addOpusCodec(PAYLOAD_TYPE, OPUS_PROFILE)
    audio.addSSRC(this.#ssrc, 'client', 'client', 'client-audio')
    const track = native.addTrack(audio)
    track.onMessage((bytes) => this.#onMedia(bytes))
    const channel = native.createDataChannel('chat')
    channel.onMessage((data) => {
      if (typeof data !== 'string') return
      this.messages.push(data)
      this.#options.onMessage?.(data)
    })
    return { native, track, channel }
  }

  #onMedia(bytes: Uint8Array): void {
    if (this.#closed) return
    if (isRtcp(bytes)) {
      this.reports.push(bytes)
      return
    }
    const packet = parseRtp(bytes)
    if (packet === undefined || this.#decoder === undefined) return
    this.packets.push(bytes)
    const samples = this.#decoder.decode(packet.payload)
    this.#samples.push(samples)
    this.#options.onAudio?.(samples)
  }

  #tone(hertz: number): Int16Array {
    return Int16Array.from({ length: this.#rate / 50 }, () => {
      this.#phase += (2 * Math.PI * hertz) / this.#rate
      return 10000 * Math.sin(this.#phase)
    })
  }
}
