import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'

/** What proxies and tunnels add to what they pass on. */
const PASSED_ON =
  /^(?:forwarded|via|x-(?:original-)?forwarded(?:-.+)?|(?:[\w-]+-)?client-ip|x-real-ip|(?:cf|fly|tailscale|ngrok|fastly|x-envoy|x-amzn)-.+)$/
const LOCAL_NAME = /^(?:localhost|(?:[\w-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Whether a program of this machine asks, as far as that can be told. A page in a browser of this machine is none, and neither is
 * what comes through a proxy or a tunnel that ends here.
 */
export function isLocalProgram(headers: IncomingHttpHeaders, remoteAddress: string | undefined): boolean {
  if (remoteAddress === undefined || headers.origin !== undefined) return false
  if (!loopback.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4')) return false
  if (!LOCAL_NAME.test(headers.host ?? '')) return false
  return !Object.keys(headers).some((name) => PASSED_ON.test(name))
}
