import { WebSocketTransport } from '@pipecat-ai/websocket-transport'
import type { BotTransport } from '../bot-transport'
import { StreamedMedia } from '../streamed-media'

/** A plain WebSocket, where nothing but web traffic gets through. */
export const websocket: BotTransport = {
  id: 'websocket',
  label: 'WebSocket',
  video: false,
  create() {
    const media = new StreamedMedia()
    const transport = new WebSocketTransport({ mediaManager: media.asMediaManager() })
    return { transport, silence: () => media.silence(), release: () => media.close() }
  },
  // The transport refuses every other key.
  connection({ wsUrl = '', sessionId = '', token }) {
    const url = new URL(wsUrl)
    url.searchParams.set('sessionId', sessionId)
    return token === undefined ? { wsUrl: url.href } : { wsUrl: url.href, token }
  },
}
