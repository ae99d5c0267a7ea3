import { Audio, type DataChannel, type Direction, PeerConnection, type Track } from 'node-datachannel'
import { MediaError } from '../errors.ts'
import type { IceOptions } from '../wire.ts'
import { usableCandidate } from './candidate.ts'
import type { Log } from './log.ts'
import { composeAnswer } from './sdp-answer.ts'
import { nativeOffer, type Offer, type SdpDirection } from './sdp-offer.ts'

/** Speech is mono; error correction helps on bad networks; a quiet caller may send less. */
const OPUS_PROFILE = 'minptime=10;useinbandfec=1;usedtx=1'
/** Largest message that we take. */
export const MAX_MESSAGE_BYTES = 262_144
/** Addresses of this machine are found within milliseconds; an answer with fewer of them beats a late one. */
const GATHERING_MS = 500
/** The native library takes a millisecond to tell the client that it is over; a busy machine takes longer. */
const GOODBYE_MS = 1000
/** The native library itself holds only some. */
const MAX_CANDIDATES = 200

/** Our direction for what the client offers. */
const REPLY: Readonly<Record<SdpDirection, Direction>> = {
  sendrecv: 'SendRecv',
  sendonly: 'RecvOnly',
  recvonly: 'SendOnly',
  inactive: 'Inactive',
}

/** What one peer connection tells. */
export interface PeerEvents {
  state(state: string): void
  media(bytes: Uint8Array): void
  channelOpen(channel: DataChannel): void
  channelClosed(): void
  message(message: string | Uint8Array): void
}

/** What a peer needs. */
export interface PeerOptions {
  readonly id: string
  readonly ice: IceOptions
  /** The stream that we send. */
  readonly ssrc: number
  readonly events: PeerEvents
  readonly log: Log
}

/** One native peer connection, always the answering side. An exception in a native callback would end the process. */
export class Peer {
  readonly id: string
  /**
   * Settles after {@link close}, when a client with a data channel has been told: a process that ends before leaves it in the dark. The native
   * library tells nothing to a client that has sound alone, which has to notice the silence.
   */
  readonly closed: Promise<void>
  readonly #options: PeerOptions
  readonly #native: PeerConnection
  readonly #offered: Pick<Offer, 'audio' | 'transport'>
  readonly #track: Track
  #channel: DataChannel | undefined
  #candidates = 0
  #closed = false
  #gathered: (() => void) | undefined
  #gone: () => void = () => {}

  constructor(offer: Offer, options: PeerOptions) {
    this.id = options.id
    this.closed = new Promise((resolve) => {
      this.#gone = resolve
    })
    this.#options = options
    this.#offered = offer
    this.#native = createNative(options)
    try {
      const on = this.#guard
      const tell = on((state: string) => options.events.state(state))
      this.#native.onStateChange((state) => {
        if (state === 'closed') this.#gone()
        tell(state)
      })
      this.#native.onGatheringStateChange(on((state) => state === 'complete' && this.#gathered?.()))
      this.#native.onDataChannel(on((channel) => this.#adopt(channel)))
      this.#track = this.#native.addTrack(audioSection(offer, options.ssrc))
      this.#track.onMessage(on((bytes) => options.events.media(bytes)))
    } catch (cause) {
      this.#native.close()
      throw unavailable(cause)
    }
  }

  /** Whether the offer speaks of this very transport, so that it can be renegotiated. */
  fits(offer: Offer): boolean {
    const { audio, transport } = this.#offered
    return (
      offer.transport.ufrag === transport.ufrag &&
      offer.transport.password === transport.password &&
      offer.transport.fingerprint === transport.fingerprint &&
      offer.audio.mid === audio.mid &&
      offer.audio.payloadType === audio.payloadType
    )
  }

  /** Answers the first or a later offer of the same client. */
  async answer(offer: Offer): Promise<string> {
    try {
      this.#native.setRemoteDescription(nativeOffer(offer), 'offer')
      this.#native.setLocalDescription('answer')
    } catch (cause) {
      throw new MediaError('invalid_offer', `The SDP offer cannot be answered: ${String(cause)}`, { cause })
    }
    for (const candidate of offer.candidates) this.addCandidate(candidate)
    await this.#gathering()
    const description = this.#closed ? null : this.#native.localDescription()
    if (description === null) {
      throw new MediaError(
        'media_unavailable',
        'The peer connection was closed while its offer was answered.',
      )
    }
    return composeAnswer(offer, description.sdp, this.#options.ice)
  }

  addCandidate(text: string): void {
    const candidate = usableCandidate(text)
    if (candidate === undefined || this.#closed || this.#candidates >= MAX_CANDIDATES) return
    this.#candidates += 1
    try {
      this.#native.addRemoteCandidate(candidate, this.#offered.audio.mid)
    } catch (error) {
      this.#options.log('a candidate was left out', { error: String(error) })
    }
  }

  /** Sends RTP or RTCP, when there is a way. */
  send(packet: Buffer): void {
    if (this.#closed) return
    try {
      if (this.#track.isOpen()) this.#track.sendMessageBinary(packet)
    } catch {
      // Closed between the question and the call; its state change tells the rest.
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#gathered?.()
    const limit = setTimeout(this.#gone, GOODBYE_MS)
    this.closed.then(() => clearTimeout(limit))
    try {
      this.#channel?.close()
      this.#track.close()
      this.#native.close()
    } catch (error) {
      this.#options.log('a peer connection did not close cleanly', { error: String(error) })
    }
  }

  /** Clients open one channel. Others are refused, or a client could make any number of them. */
  #adopt(channel: DataChannel): void {
    if (this.#channel !== undefined) {
      channel.close()
      return
    }
    this.#channel = channel
    const { events } = this.#options
    channel.onMessage(
      this.#guard((data) => events.message(data instanceof ArrayBuffer ? new Uint8Array(data) : data)),
    )
    channel.onClosed(
      this.#guard(() => {
        this.#channel = undefined
        events.channelClosed()
      }),
    )
    channel.onOpen(this.#guard(() => events.channelOpen(channel)))
    if (channel.isOpen()) events.channelOpen(channel)
  }

  async #gathering(): Promise<void> {
    if (this.#closed || this.#native.gatheringState() === 'complete') return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHERING_MS)
      this.#gathered = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#gathered = undefined
  }

  readonly #guard = <Arguments extends unknown[]>(callback: (...args: Arguments) => unknown) => {
    return (...args: Arguments): void => {
      if (this.#closed) return
      try {
        callback(...args)
      } catch (error) {
        this.#options.log('handling an event of the peer connection failed', { error: String(error) })
      }
    }
  }
}

function createNative({ id, ice }: PeerOptions): PeerConnection {
  try {
    return new PeerConnection(id, {
      iceServers: [],
      disableAutoNegotiation: true,
      maxMessageSize: MAX_MESSAGE_BYTES,
      ...(ice.port !== undefined && {
        enableIceUdpMux: true,
        portRangeBegin: ice.port,
        portRangeEnd: ice.port,
      }),
    })
  } catch (cause) {
    throw unavailable(cause)
  }
}

function audioSection(offer: Offer, ssrc: number): Audio {
  const audio = new Audio(offer.audio.mid, REPLY[offer.audio.direction])
  audio.addOpusCodec(offer.audio.payloadType, OPUS_PROFILE)
  audio.addSSRC(ssrc, 'bot', 'bot', 'bot-audio')
  return audio
}

function unavailable(cause: unknown): MediaError {
  return new MediaError('media_unavailable', `No peer connection could be made: ${String(cause)}`, { cause })
}
