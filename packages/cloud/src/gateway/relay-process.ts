import { Socket } from 'node:net'
import type { FromRelay, ToRelay } from './relay-messages.ts'
import { RelayedConnection, type RelayLimits } from './relayed-connection.ts'

// The process of a relay. It is started by a control plane, and goes on without it until its last connection is over. It knows nothing of
// sessions, keys or tokens: whoever comes here was let in.

const LIMITS: RelayLimits = { connectMs: 10_000, answerMs: 30_000, endMs: 10_000 }
const connections = new Map<number, RelayedConnection>()

process.title = 'botcli relay'
// A Ctrl-C of the terminal, or its end, is meant for the control plane.
process.on('SIGINT', () => {})
process.on('SIGHUP', () => {})
process.on('message', (message: ToRelay, handle: unknown) => {
  if (message.type === 'open') open(message, handle)
  else connections.get(message.id)?.[message.type]()
})
process.on('disconnect', () => {
  // Whoever could have told is gone, and with it the other copy of every socket.
  for (const connection of connections.values()) if (connection.isWaiting) connection.go()
  exitWhenDone()
})
tell({ type: 'ready' })

function open({ id, call }: Extract<ToRelay, { type: 'open' }>, handle: unknown): void {
  if (!(handle instanceof Socket)) {
    // A socket whose other end closed while it was on its way arrives as nothing.
    tell({ type: 'unreached', id, why: 'the caller left' })
    tell({ type: 'over', id })
    return
  }
  const connection = new RelayedConnection(handle, call, LIMITS, {
    reached: () => {
      if (!tell({ type: 'reached', id })) connection.go()
    },
    unreached: (why) => {
      if (!tell({ type: 'unreached', id, why })) connection.refuse()
    },
    over: () => {
      connections.delete(id)
      tell({ type: 'over', id })
      exitWhenDone()
    },
  })
  connections.set(id, connection)
}

/** Whether somebody is there to be told. */
function tell(message: FromRelay): boolean {
  if (!process.connected) return false
  // A control plane that goes away while it is told something is noticed by its disconnect.
  process.send?.(message, undefined, undefined, () => {})
  return true
}

function exitWhenDone(): void {
  if (!process.connected && connections.size === 0) process.exit(0)
}
