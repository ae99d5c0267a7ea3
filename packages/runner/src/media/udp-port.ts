import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import type { PortRange } from '../config.ts'
import { RunnerError } from '../errors.ts'

/** A port that is ours until it is freed. */
export interface UdpPort {
  readonly number: number
  free(): void
}

/**
 * The first port of a range that nobody has. The native library must never be given another one: it would abort its
 * process, and every call in it. It takes the port only with its first call, so until then other runners are told.
 */
export async function takeUdpPort(
  range: PortRange,
  taken: ReadonlySet<number | undefined> = new Set(),
): Promise<UdpPort> {
  const { first, last } = range
  for (let port = first; port <= last; port += 1) {
    if (taken.has(port)) continue
    const free = await claim(port)
    if (free === undefined) continue
    if ((await canBind('udp4', port)) && (await canBind('udp6', port))) return { number: port, free }
    free()
  }
  const which = first === last ? `UDP port ${first} is` : `All UDP ports from ${first} to ${last} are`
  throw new RunnerError('port_in_use', `${which} in use. Choose another one with --ice-port.`)
}

/**
 * Tells all runners on the same network that a port is taken, by a name that only one of them can have and that is gone with
 * its process. Gives what ends that, or nothing if another one was first.
 */
function claim(port: number): Promise<(() => void) | undefined> {
  return new Promise((resolve) => {
    const server = createServer((stranger) => stranger.destroy())
    server.on('error', (error: NodeJS.ErrnoException) => {
      // Where the system knows no such names, the port itself has to tell.
      resolve(error.code === 'EADDRINUSE' ? undefined : () => {})
    })
    server.listen(`\0botcli-udp-${port}`, () => resolve(() => server.close()))
    server.unref()
  })
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
