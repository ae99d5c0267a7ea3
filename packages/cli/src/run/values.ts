import { isIP } from 'node:net'
import type { PortRange } from '@botcli/runner'
import { ValueError } from '../options/option.ts'

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i
const MIN_MEMORY_BYTES = 128 * 1024 ** 2
const MAX_MEMORY_BYTES = 1024 ** 4
const MAX_DURATION_MS = 24 * 60 * 60 * 1000

/** A whole number between two others. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new ValueError(`must be a whole number from ${min} to ${max}, not ${quoted(text)}.`)
  }
}

/** One word of a list. */
export function oneOf<const T extends string>(allowed: readonly T[]): (text: string) => T {
  return (text) => {
    const found = allowed.find((one) => one === text)
    if (found !== undefined) return found
    throw new ValueError(`must be one of ${allowed.join(', ')}, not ${quoted(text)}.`)
  }
}

/** An address to listen on: an IP address or a host name. */
export function parseHost(text: string): string {
  return address(text, 'an IP address or a host name, without a scheme or a port')
}

/** An address that others are told, so it cannot be one that means "any". */
export function parseAnnouncedAddress(text: string): string {
  const allowed = 'the IP address or host name that clients reach this machine by'
  const found = address(text, allowed)
  if (isUnspecified(found)) throw new ValueError(`must be ${allowed}, not ${quoted(text)}.`)
  return found
}

/** A public host name; a scheme and slashes at the end are taken off. */
export function parseProxy(text: string): string {
  const bare = text.replace(/^https?:\/\//i, '').replace(/\/+$/, '')
  const [, name = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(bare) ?? []
  const portFits = port === undefined || (Number(port) >= 1 && Number(port) <= 65535)
  if (portFits && isAddress(name.replace(/^\[|\]$/g, ''))) return bare
  throw new ValueError(`must be a host name such as my-bot.example.com, not ${quoted(text)}.`)
}

/** Origins between commas. Nothing at all allows every origin. */
export function parseOrigins(text: string): readonly string[] {
  if (text.trim() === '') return []
  const items = text.split(',').map((item) => item.trim())
  const origins = items.filter((item) => item !== '').map(parseOrigin)
  if (origins.length > 0) return origins
  throw new ValueError(`must be origins such as https://app.example.com, not ${quoted(text)}.`)
}

/** How long a session may last, in milliseconds. */
export function parseDuration(text: string): number {
  const [, hours, minutes, seconds, plain] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$|^(\d+)$/.exec(text) ?? []
  const total = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? plain ?? 0)
  const ms = total * 1000
  if (ms >= 1000 && ms <= MAX_DURATION_MS) return ms
  throw new ValueError(`must be from 1s to 24h, such as 30s, 10m, 2h or 90 (seconds), not ${quoted(text)}.`)
}

/** A size of memory in bytes. */
export function parseMemory(text: string): number {
  const [, amount, unit] = /^(\d{1,6})(m|g)b?$/i.exec(text) ?? []
  const bytes = Number(amount) * (unit?.toLowerCase() === 'g' ? 1024 ** 3 : 1024 ** 2)
  if (bytes >= MIN_MEMORY_BYTES && bytes <= MAX_MEMORY_BYTES) return bytes
  throw new ValueError(`must be from 128m to 1024g, such as 512m or 2g, not ${quoted(text)}.`)
}

/** One port or a range of ports. */
export function parsePorts(text: string): PortRange {
  const [, from, to] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
  const first = Number(from)
  const last = Number(to ?? from)
  if (first >= 1 && first <= last && last <= 65535) return { first, last }
  throw new ValueError(
    `must be a UDP port or a range such as 50000-50010, within 1 to 65535, not ${quoted(text)}.`,
  )
}

/** A program: a path, or a name that is looked for where programs are. */
export function parseProgram(text: string): string {
  if (text.trim() !== '' && !text.includes('\0')) return text
  throw new ValueError(`must be the path or the name of a program, not ${quoted(text)}.`)
}

/** True for the addresses that mean every interface. */
export function isUnspecified(host: string): boolean {
  return isIP(host) !== 0 && /^[0:.]+$/.test(host)
}

/** True for addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\./.test(host)
}

/** One origin, as browsers spell it. */
export function parseOrigin(text: string): string {
  const fail = (why: string): never => {
    throw new ValueError(`must be origins such as https://app.example.com or http://localhost:3000. ${why}`)
  }
  if (text === '*') return fail('To allow all origins, leave it out.')
  if (text.includes('*')) return fail(`${quoted(text)} is a pattern; write each origin.`)
  const url = /^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (!url) return fail(`${quoted(text)} is none.`)
  if (/^wss?:$/.test(url.protocol))
    return fail(`${quoted(text)} is none: the page's own address begins with http.`)
  const extra = url.username + url.password + url.search + url.hash
  if (extra !== '' || !['', '/'].includes(url.pathname))
    return fail(`${quoted(text)} has more than scheme, host and port.`)
  // Apps come from schemes of their own, for which URL gives the origin "null".
  return url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin
}

function address(text: string, allowed: string): string {
  const bare = /^\[.*\]$/.test(text) ? text.slice(1, -1) : text
  if (isAddress(bare)) return bare
  throw new ValueError(`must be ${allowed}, not ${quoted(text)}.`)
}

function isAddress(text: string): boolean {
  if (isIP(text) !== 0) return true
  const labels = text.split('.')
  // A name whose last part is a number would be an IP address, and a wrong one.
  if (text.length > 253 || /^\d*$/.test(labels.at(-1) ?? '')) return false
  return labels.every((label) => LABEL.test(label))
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
