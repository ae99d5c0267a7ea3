import { isIP } from 'node:net'

const CANDIDATE =
  /^(?:a=)?candidate:([A-Za-z0-9+/]{1,32}) 1 udp (\d{1,10}) ([0-9A-Fa-f.:]{2,45}) (\d{1,5}) typ (host|srflx|prflx|relay)(?: |$)/i

/**
 * Spells a client's candidate anew, from checked parts only. Gives nothing for what is of no use here: host
 * names (also the `.local` ones of browsers, which reach us as peer-reflexive anyway), TCP, RTCP, nonsense.
 */
export function usableCandidate(text: string): string | undefined {
  if (text.length > 512) return undefined
  const [, foundation, priority, address, port, type] = CANDIDATE.exec(text.trim()) ?? []
  if (address === undefined || isIP(address) === 0) return undefined
  if (Number(port) < 1 || Number(port) > 65535 || Number(priority) > 0xffffffff) return undefined
  return `candidate:${foundation} 1 UDP ${priority} ${address} ${port} typ ${type?.toLowerCase()}`
}
