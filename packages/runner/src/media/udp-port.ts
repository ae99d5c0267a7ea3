import { createSocket } from 'node:dgram'
import type { PortRange } from '../config.ts'
import { RunnerError } from '../errors.ts'

/**
 * The first port of a range that nobody has. The native library must never be given another one: it would abort its
 * process, and every call in it.
 */
export async function freeUdpPort(
  range: PortRange,
  taken: ReadonlySet<number | undefined> = new Set(),
): Promise<number> {
  const { first, last } = range
  for (let port = first; port <= last; port += 1) {
    if (!taken.has(port) && (await canBind('udp4', port)) && (await canBind('udp6', port))) return port
  }
  const which = first === last ? `UDP port ${first} is` : `All UDP ports from ${first} to ${last} are`
  throw new RunnerError('port_in_use', `${which} in use. Choose another one with --ice-port.`)
}

function canBind(type: 'udp4' | 'udp6', port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket({ type, ipv6Only: type === 'udp6' })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close()
      // A machine without IPv6 has nothing there that could be in the way.
      resolve(error.code !== 'EADDRINUSE' && error.code !== 'EACCES')
    })
    socket.bind(port, () => socket.close(() => resolve(true)))
  })
}
