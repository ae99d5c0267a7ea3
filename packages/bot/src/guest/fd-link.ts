import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net'
import type { LinkStream } from '@botcli/protocol'

/** More than one frame of sound a read; what is longer comes in pieces. */
const READ_BYTES = 64 * 1024

/**
 * The link on an inherited descriptor. A bot reads a small frame fifty times a second, so all reads share one buffer
 * instead of getting a large new one each. Whoever listens must copy what it keeps, as the link's decoder does.
 */
export function openFdLink(fd: number): LinkStream {
  let onData: (chunk: Uint8Array) => void = () => {}
  // The types know this option only where a connection is made.
  const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
    fd,
    readable: true,
    writable: true,
    onread: {
      buffer: Buffer.allocUnsafe(READ_BYTES),
      callback: (length, buffer) => {
        onData(buffer.subarray(0, length))
        return true
      },
    },
  }
  const socket = new Socket(options)
  return {
    write: (bytes) => socket.write(bytes),
    end: () => socket.end(),
    destroy: () => socket.destroy(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    get writableLength() {
      return socket.writableLength
    },
    on(event: string, listener: (...args: never[]) => void) {
      if (event === 'data') onData = listener as (chunk: Uint8Array) => void
      else socket.on(event, listener as (...args: unknown[]) => void)
    },
    removeListener(event: string, listener: (...args: never[]) => void) {
      if (event === 'data') onData = () => {}
      else socket.removeListener(event, listener as (...args: unknown[]) => void)
    },
  }
}
