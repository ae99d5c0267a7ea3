import type { BotTransport } from './bot-transport'
// #if room
import { room } from './transports/room'
// #end
// #if webrtc
import { webrtc } from './transports/webrtc'
// #end
// #if websocket
import { websocket } from './transports/websocket'
// #end

/** The ways to reach the bot; the first one is taken unless somebody chooses. */
export const TRANSPORTS: readonly [BotTransport, ...BotTransport[]] = [
  // #if webrtc
  webrtc,
  // #end
  // #if websocket
  websocket,
  // #end
  // #if room
  room,
  // #end
]
