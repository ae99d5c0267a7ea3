import { closeReason } from '@botcli/protocol'
import type { WebSocket } from 'ws'

/** A peer that is told politely gets this long to answer before its socket is cut. */
const PATIENCE_MS = 2000

/** Closes a socket with words. It is closed within seconds, also when its other end does not answer. */
export function closeWebsocket(websocket: WebSocket, code: number, reason: string): void {
  websocket.close(code, closeReason(reason))
  const cut = setTimeout(() => websocket.terminate(), PATIENCE_MS)
  if (websocket.readyState === websocket.CLOSED) clearTimeout(cut)
  else websocket.once('close', () => clearTimeout(cut))
}

/** Resolves when the socket is closed, by whomever. */
export function closingOf(websocket: WebSocket): Promise<void> {
  if (websocket.readyState === websocket.CLOSED) return Promise.resolve()
  return new Promise((resolve) => {
    websocket.once('close', () => resolve())
  })
}
