import type { UpgradeRequest } from '@botcli/media'

/** Headers that say who asks and by which way. Others may hold secrets. */
const PLAIN = /^(?:host|origin|user-agent|forwarded|x-real-ip|x-forwarded-(?:for|host|port|prefix|proto))$/

/** What a bot may know of the request that made its caller's socket. */
export function plainHeaders({ headers }: UpgradeRequest): Record<string, string> {
  const plain = Object.entries(headers).filter(([name]) => PLAIN.test(name))
  return Object.fromEntries(plain.map(([name, value]) => [name, [value].flat().join(', ')]))
}

/** What lets its caller in, which is none of the bot's business. */
const KEYS = ['token', 'sessionId']

/** What a bot may know of what stands behind the address of its caller's socket, spelled as it was. */
export function plainQuery(search: string): string {
  const parts = search.replace(/^\?/, '').split('&')
  return parts.filter((part) => !KEYS.some((key) => new URLSearchParams(part).has(key))).join('&')
}
