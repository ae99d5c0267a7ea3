import { SmallWebRTCTransport } from '@pipecat-ai/small-webrtc-transport'
import type { BotTransport } from '../bot-transport'
import { LocalMedia } from '../local-media'

/** A peer connection straight to the bot. */
export const webrtc: BotTransport = {
  id: 'webrtc',
  label: 'WebRTC',
  video: true,
  create() {
    const media = new LocalMedia()
    const transport = new SmallWebRTCTransport({ mediaManager: media.asMediaManager() })
    return { transport, silence() {}, release: () => media.close() }
  },
  // The transport finds the address for its offer by the session's id.
  connection: (answer) => answer,
}
