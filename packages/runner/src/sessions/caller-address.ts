import { isIP, type Socket } from 'node:net'
import type { UpgradeRequest } from '@botcli/media'

/** Says from where a caller comes; it is empty where nobody knows. */
export type CallerAddress = (request: UpgradeRequest, socket: Socket) => string

/** The other end of the socket. */
export const socketAddress: CallerAddress = (_, socket) => socket.remoteAddress ?? ''

/** What the cloud says, which is the only one at the other end. The first address is the caller's, those behind it are of proxies. */
export const forwardedAddress: CallerAddress = ({ headers }) => {
  const [first = ''] = [headers['x-forwarded-for'] ?? ''].flat().join().split(',')
  const address = first.trim()
  return isIP(address) === 0 ? '' : address
}
