import { decodeClientFrame } from '@botcli/protocol'
import type { RTVIMessage } from '@pipecat-ai/client-js'
import { ProtobufFrameSerializer, WebSocketTransport } from '@pipecat-ai/websocket-transport'
import { CAPTURE_RATE } from '../media/microphone.ts'
import type { PageMedia } from '../media/page-media.ts'
import { PLAYBACK_RATE } from '../media/pcm-voice.ts'
import { endingOfClose } from '../state/problem.ts'
import type { StartedSession } from './bot-host.ts'
import type { Wire, WireEvents } from './wire.ts'

/** Code of our own for a close that had none: the connection was cut. */
const CUT = 1006

/** The published transport, which drops the reason of a close and makes an error of every close. */
class PageWebSocket extends WebSocketTransport {
  readonly #events: WireEvents

  constructor(media: PageMedia, events: WireEvents) {
    super({
      mediaManager: media,
      serializer: new PageSerializer(media),
      recorderSampleRate: CAPTURE_RATE,
      playerSampleRate: PLAYBACK_RATE,
    })
    this.#events = events
  }

  override initializeWebsocket(): ReturnType<WebSocketTransport['initializeWebsocket']> {
    const socket = super.initializeWebsocket()
    socket.removeAllListeners('close')
    socket.on('close', (code: unknown, reason: unknown) => {
      this.#events.closed(
        endingOfClose(typeof code === 'number' ? code : CUT, typeof reason === 'string' ? reason : ''),
      )
    })
    return socket
  }

  override connectionError(): void {
    this.#events.closed(endingOfClose(CUT, ''))
  }

  override sendMessage(message: RTVIMessage): void {
    this.#events.sent(message.type, message.data)
    super.sendMessage(message)
  }
}

/** The published framing, and the frame that tells a client to fall silent, which it does not know. */
class PageSerializer extends ProtobufFrameSerializer {
  readonly #media: PageMedia

  constructor(media: PageMedia) {
    super()
    this.#media = media
  }

  override async deserialize(data: unknown): ReturnType<ProtobufFrameSerializer['deserialize']> {
    const bytes = data instanceof Blob ? new Uint8Array(await data.arrayBuffer()) : undefined
    if (bytes === undefined || decodeClientFrame(bytes)?.kind !== 'interruption')
      return super.deserialize(data)
    this.#media.silence()
    return { type: 'audio', audio: new Int16Array() }
  }
}

/** A conversation over a plain WebSocket. */
export function websocketWire(session: StartedSession, media: PageMedia, events: WireEvents): Wire {
  return {
    transport: new PageWebSocket(media, events),
    // The published transport refuses every other key.
    connectParams: {
      wsUrl: session.wsUrl ?? '',
      ...(session.token === undefined ? {} : { token: session.token }),
    },
    connected: () => {},
    replaceTrack: async () => {},
  }
}
