import { DailyTransport } from '@pipecat-ai/daily-transport'
import type { BotTransport } from '../bot-transport'

/** A room of the room provider, where the bot waits. */
export const room: BotTransport = {
  id: 'room',
  label: 'Room',
  video: true,
  create: () => ({ transport: new DailyTransport(), silence() {}, release() {} }),
  connection: ({ roomUrl, roomToken }) => ({ url: roomUrl, token: roomToken }),
}
