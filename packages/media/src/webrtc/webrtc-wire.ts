import { randomUUID } from 'node:crypto'
import { type IceCandidate, needsWords, rtviEnd, type SessionOutcome } from '@botcli/protocol'
import { MediaError } from '../errors.ts'
import type { AudioFormat, IceOptions, PeerEnd, Wire, WireCounters, WireEvents } from '../wire.ts'
import { LIVENESS_LIMITS, Liveness, type LivenessLimits, type SetTimer } from './liveness.ts'
import type { Log } from './log.ts'
import { MessageChannel } from './message-channel.ts'
import { MAX_MESSAGE_BYTES, Peer, type PeerEvents } from './peer.ts'
import { RtcpReporter } from './rtcp.ts'
import { isRtcp } from './rtp.ts'
import { RtpReceiver } from './rtp-receiver.ts'
import { RtpSender } from './rtp-sender.ts'
import { type Offer, parseOffer } from './sdp-offer.ts'

/** Last words are given this long to leave. */
const FLUSH_MS = 200
const FLUSH_STEP_MS = 20

/** What a wire over WebRTC needs. */
export interface WebrtcWireOptions {
  readonly events: WireEvents
  readonly ice: IceOptions
  /** A clock in milliseconds that never goes back. */
  readonly clock: () => number
  readonly log?: Log
  readonly limits?: Partial<LivenessLimits>
  readonly setTimer?: SetTimer
}

/** A caller over WebRTC: Opus sound, and messages over a data channel. */
export class WebrtcWire implements Wire, PeerEnd {
  readonly eager = false
  readonly finished: Promise<void>
  readonly #events: WireEvents
  readonly #ice: IceOptions
  readonly #clock: () => number
  readonly #log: Log
  readonly #setTimer: SetTimer
  readonly #liveness: Liveness
  readonly #channel: MessageChannel
  readonly #sender: RtpSender
  readonly #receiver: RtpReceiver
  readonly #reporter: RtcpReporter
  #pcId = randomUUID()
  #peer: Peer | undefined
  #badMessages = 0
  #closed = false
  #finish: () => void = () => {}

  constructor(options: WebrtcWireOptions) {
    this.finished = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#events = options.events
    this.#ice = options.ice
    this.#clock = options.clock
    this.#log = options.log ?? (() => {})
    this.#setTimer = options.setTimer ?? systemTimer
    this.#liveness = new Liveness({
      events: options.events,
      clock: options.clock,
      setTimer: this.#setTimer,
      limits: { ...LIVENESS_LIMITS, ...options.limits },
    })
    this.#channel = new MessageChannel(this.#log)
    this.#sender = new RtpSender((packet) => this.#peer?.send(packet))
    this.#reporter = new RtcpReporter(options.clock, (report) => this.#peer?.send(report))
    this.#receiver = new RtpReceiver(options.events)
  }

  get pcId(): string {
    return this.#pcId
  }

  get messageBacklog(): number {
    return this.#channel.backlog
  }

  get counters(): WireCounters {
    return { audioInConcealedMs: this.#receiver.concealedMs, badMessages: this.#badMessages }
  }

  async answer(sdp: string, restart: boolean): Promise<{ readonly sdp: string; readonly pcId: string }> {
    if (this.#closed) throw new MediaError('media_unavailable', 'The session is over.')
    const offer = parseOffer(sdp)
    const current = this.#peer
    const peer = current !== undefined && !restart && current.fits(offer) ? current : this.#replacePeer(offer)
    try {
      return { sdp: await peer.answer(offer), pcId: peer.id }
    } catch (error) {
      this.#abandon(peer, current)
      throw error
    }
  }

  addCandidates(candidates: readonly IceCandidate[]): void {
    for (const { candidate } of candidates) this.#peer?.addCandidate(candidate)
  }

  setFormat(format: AudioFormat): void {
    if (this.#closed) return
    this.#sender.setRate(format.outputRate)
    this.#receiver.setRate(format.inputRate).catch((error: unknown) => {
      this.#log('the sound of the client cannot be decoded', { error: String(error) })
    })
  }

  sendAudio(samples: Int16Array): void {
    this.#step((now) => this.#sender.sound(samples, now))
  }

  sendNothing(): void {
    this.#step((now) => this.#sender.silent(now))
  }

  /** A browser plays what it has within milliseconds, and has no way to be told otherwise. */
  clear(): void {}

  sendMessage(message: unknown): boolean {
    return !this.#closed && this.#channel.send(message)
  }

  /** Keys have no meaning on this wire. */
  sendDtmf(): void {}

  close(outcome: SessionOutcome): void {
    if (this.#closed) return
    this.#closed = true
    this.#liveness.close()
    this.#receiver.close()
    if (needsWords(outcome.cause)) this.#channel.send(rtviEnd(outcome))
    this.#channel.send({ type: 'signalling', message: { type: 'peerLeft' } })
    this.#closePeer(this.#peer, FLUSH_MS)
  }

  /** One 20 ms step of the session's clock drives everything that needs time, so nothing here owns a timer for it. */
  #step(send: (now: number) => void): void {
    if (this.#closed) return
    const now = this.#clock()
    try {
      send(now)
      this.#receiver.step(now)
      this.#reporter.step(now, this.#sender.statistics)
    } catch (error) {
      this.#log('a step of sound failed', { error: String(error) })
    }
  }

  #replacePeer(offer: Offer): Peer {
    const id = this.#peer === undefined ? this.#pcId : randomUUID()
    const peer: Peer = new Peer(offer, {
      id,
      ice: this.#ice,
      ssrc: this.#sender.ssrc,
      log: this.#log,
      events: this.#eventsOf(() => this.#peer === peer),
    })
    const old = this.#peer
    this.#peer = peer
    this.#pcId = id
    this.#channel.shut()
    this.#sender.setPayloadType(offer.audio.payloadType)
    this.#receiver.setPayloadType(offer.audio.payloadType)
    this.#liveness.renewed()
    old?.close()
    return peer
  }

  /** After a failed first answer there is nothing; after a failed renegotiation the old state stays. */
  #abandon(peer: Peer, before: Peer | undefined): void {
    if (peer === before) return
    peer.close()
    if (this.#peer !== peer) return
    this.#peer = undefined
    if (before !== undefined) this.#liveness.peerOver('client_lost', 'The connection could not be renewed.')
  }

  /** Events of a peer that was replaced are not of this session any more. */
  #eventsOf(current: () => boolean): PeerEvents {
    return {
      state: (state) => {
        if (current()) this.#onState(state)
      },
      media: (bytes) => {
        if (current()) this.#onMedia(bytes)
      },
      channelOpen: (channel) => {
        if (!current() || this.#closed) return
        this.#channel.open(channel)
        this.#liveness.peerUp()
      },
      channelClosed: () => {
        if (!current()) return
        this.#channel.shut()
        this.#liveness.peerOver('client_left', 'The client closed its connection.')
      },
      message: (message) => {
        if (current()) this.#onMessage(message)
      },
    }
  }

  #onState(state: string): void {
    if (state === 'connected') this.#liveness.peerUp()
    else if (state === 'disconnected') this.#liveness.peerDown()
    else if (state === 'closed') {
      this.#liveness.peerOver('client_left', 'The client closed its connection.')
    } else if (state === 'failed') {
      this.#liveness.peerOver('client_lost', 'The connection to the client broke.')
    }
  }

  #onMedia(bytes: Uint8Array): void {
    if (this.#closed) return
    this.#liveness.heard()
    if (isRtcp(bytes)) {
      this.#reporter.report(bytes)
      return
    }
    const now = this.#clock()
    const packet = this.#receiver.receive(bytes, now)
    if (packet !== undefined) this.#reporter.received(packet, now)
  }

  #onMessage(data: string | Uint8Array): void {
    if (this.#closed) return
    this.#liveness.heard()
    if (typeof data === 'string' && data.startsWith('ping')) return
    const message = parseMessage(data)
    if (message === undefined) this.#badMessages += 1
    else if (!isSignalling(message)) this.#events.message(message)
  }

  #closePeer(peer: Peer | undefined, leftMs: number): void {
    const sent = this.#channel.unsent === 0 && leftMs < FLUSH_MS
    if (peer === undefined) this.#finish()
    else if (sent || leftMs <= 0) {
      peer.close()
      peer.closed.then(this.#finish)
    } else this.#setTimer(() => this.#closePeer(peer, leftMs - FLUSH_STEP_MS), FLUSH_STEP_MS)
  }
}

function parseMessage(data: string | Uint8Array): unknown {
  if (typeof data !== 'string' || data.length > MAX_MESSAGE_BYTES) return undefined
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

/** What the published client says about its tracks is for servers that carry video. */
function isSignalling(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'signalling'
}

function systemTimer(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}
