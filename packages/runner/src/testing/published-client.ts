import { PipecatClient, RTVIEvent } from '@pipecat-ai/client-js'
import {
  SmallWebRTCTransport,
  WavMediaManager as WebrtcMediaManager,
} from '@pipecat-ai/small-webrtc-transport'
import { WebSocketTransport, WavMediaManager as WebsocketMediaManager } from '@pipecat-ai/websocket-transport'

/** The transports of the published clients that need no provider. */
export type PublishedTransport = 'webrtc' | 'websocket'

/** What the test sees of a published client in the browser. */
export interface PublishedClientPage {
  connect(transport: PublishedTransport, runnerUrl: string, body: Record<string, string>): Promise<void>
  /** As an application reaches an agent of a cloud: with its start address, a key, and no word about the rest. */
  startAndConnect(
    transport: PublishedTransport,
    endpoint: string,
    key: string,
    body: Record<string, string>,
  ): Promise<void>
  request(type: string, data: unknown): Promise<unknown>
  sendText(text: string): Promise<void>
  press(keys: string): Promise<void>
  /** What the WebRTC transport does by itself when its connection breaks. */
  reconnect(): Promise<void>
  disconnect(): Promise<void>
  readonly events: readonly { readonly type: string; readonly data: unknown }[]
}

let client: PipecatClient | undefined
const events: { type: string; data: unknown }[] = []

/** As an application would use the published packages, with nothing of ours. */
const page: PublishedClientPage = {
  events,

  async connect(transport, runnerUrl, body) {
    client = makeClient(transport)
    const start = { endpoint: `${runnerUrl}/start`, requestData: { transport, body } }
    if (transport === 'webrtc') {
      await client.startBotAndConnect(start)
      return
    }
    const answer = (await client.startBot(start)) as { wsUrl: string; sessionId: string }
    await client.connect({ wsUrl: `${answer.wsUrl}?sessionId=${answer.sessionId}` })
  },

  async startAndConnect(transport, endpoint, key, body) {
    client = makeClient(transport)
    const headers = new Headers({ Authorization: `Bearer ${key}` })
    const start = { endpoint, headers, requestData: { transport, body } }
    if (transport === 'webrtc') {
      await client.startBotAndConnect(start)
      return
    }
    // This transport refuses keys that it does not know, such as the session's id.
    const { wsUrl } = (await client.startBot(start)) as { wsUrl: string }
    await client.connect({ wsUrl })
  },

  request: async (type, data) => client?.sendClientRequest(type, data),
  sendText: async (text) => client?.sendText(text),
  press: async (keys) => client?.sendDTMF(keys),
  async reconnect() {
    const transport = client?.transport as unknown as { attemptReconnection(newPeer: boolean): Promise<void> }
    await transport.attemptReconnection(true)
  },
  disconnect: async () => client?.disconnect(),
}

function makeClient(transport: PublishedTransport): PipecatClient {
  const made = new PipecatClient({
    transport:
      transport === 'webrtc'
        ? new SmallWebRTCTransport({ mediaManager: new WebrtcMediaManager() })
        : // The transport says 16 kHz of whatever this manager records, so it has to record at that rate.
          new WebSocketTransport({ mediaManager: new WebsocketMediaManager(512, 16_000) }),
    enableMic: true,
    enableCam: false,
  })
  for (const type of Object.values(RTVIEvent)) {
    made.on(type, ((data: unknown) => record(type, data)) as never)
  }
  made.on(RTVIEvent.TrackStarted, (track, participant) => {
    if (participant?.local === true || track.kind !== 'audio') return
    const audio = document.createElement('audio')
    audio.autoplay = true
    audio.srcObject = new MediaStream([track])
    document.body.append(audio)
  })
  return made
}

function record(type: string, data: unknown): void {
  if (/level/i.test(type) || events.length > 500) return
  events.push({ type, data: JSON.parse(JSON.stringify(data ?? null)) })
}

Object.assign(globalThis, { published: page })
