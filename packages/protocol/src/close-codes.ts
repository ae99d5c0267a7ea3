import type { EndCause } from './sessions.ts'

/** The WebSocket close code that tells a client why its session ended. */
export const CLOSE_CODES: Readonly<Record<EndCause, number>> = {
  bot_returned: 1000,
  client_left: 1000,
  client_lost: 1001,
  stopped: 4000,
  time_limit: 4001,
  never_connected: 4002,
  shutdown: 1012,
  bot_failed: 1011,
  bot_exited: 1011,
  bot_unresponsive: 1011,
  bot_flooded: 1011,
  bot_out_of_memory: 1011,
  media_failed: 1011,
}

/** A close reason may hold 123 bytes of UTF-8 at most; what is cut ends with a sign of it. */
export function closeReason(message: string): string {
  const bytes = new TextEncoder().encode(message)
  if (bytes.length <= 123) return message
  return `${new TextDecoder().decode(bytes.subarray(0, 120)).replace(/\uFFFD+$/, '')}…`
}
