import type { RTVIMessage } from '@pipecat-ai/client-js'
import { SmallWebRTCTransport } from '@pipecat-ai/small-webrtc-transport'
import type { PageMedia } from '../media/page-media.ts'
import type { OfferPlace, StartedSession } from './bot-host.ts'
import type { Wire, WireEvents } from './wire.ts'

/** The published transport, which keeps its peer connection and its data channel to itself. */
class PageWebRtc extends SmallWebRTCTransport {
  readonly #events: WireEvents
  #watched: RTCDataChannel | undefined

  constructor(media: PageMedia, events: WireEvents) {
    super({ mediaManager: media })
    this.#events = events
  }

  override sendMessage(message: RTVIMessage): void {
    this.#events.sent(message.type, message.data)
    super.sendMessage(message)
  }

  /**
   * The transport itself says nothing until it gives up, after some twenty seconds. Its channel closes at once when
   * the peer says goodbye, and its connection knows within seconds when the peer is gone.
   */
  watch(): void {
    const channel: unknown = Reflect.get(this, 'dc')
    const peer: unknown = Reflect.get(this, 'pc')
    if (!(channel instanceof RTCDataChannel && peer instanceof RTCPeerConnection)) return
    if (channel === this.#watched) return
    this.#watched = channel
    channel.addEventListener('close', () => this.#events.interrupted())
    peer.addEventListener('connectionstatechange', () => {
      if (peer.connectionState === 'disconnected') this.#events.interrupted()
      if (peer.connectionState === 'connected') this.#events.restored()
    })
  }

  async replaceTrack(track: MediaStreamTrack): Promise<void> {
    const peer: unknown = Reflect.get(this, 'pc')
    if (!(peer instanceof RTCPeerConnection)) return
    await peer.getTransceivers()[0]?.sender.replaceTrack(track)
  }
}

/** A conversation over a peer connection. */
export function webrtcWire(
  session: StartedSession,
  { url, headers }: OfferPlace,
  media: PageMedia,
  events: WireEvents,
): Wire {
  const transport = new PageWebRtc(media, events)
  return {
    transport,
    connectParams: {
      webrtcRequestParams: { endpoint: url, headers: new Headers(headers) },
      iceConfig: { iceServers: session.iceServers },
    },
    connected: () => transport.watch(),
    replaceTrack: (track) => transport.replaceTrack(track),
  }
}
