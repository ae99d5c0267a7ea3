/** The first byte of what a token says; another one when tokens change. */
const VERSION = 1
const BYTES = 14
const FORM = /^[A-Za-z0-9_-]{19}$/

/**
 * A token that stands for the lines of a build before a number. It is bound to the build by a checksum, which is against mistakes and not
 * against people: whoever may read a build's log may read all of it.
 */
export function encodeToken(buildId: string, before: number): string {
  const bytes = Buffer.allocUnsafe(BYTES)
  bytes.writeUInt8(VERSION, 0)
  bytes.writeUIntBE(before, 1, 6)
  bytes.writeUInt8(0, 7)
  bytes.writeUIntBE(checksum(`${VERSION} ${buildId} ${before}`), 8, 6)
  return bytes.toString('base64url')
}

/** The number in a token of this build; nothing when the token is malformed or of another build. */
export function decodeToken(buildId: string, token: string): number | undefined {
  if (!FORM.test(token)) return undefined
  const before = Buffer.from(token, 'base64url').readUIntBE(1, 6)
  return encodeToken(buildId, before) === token ? before : undefined
}

/** 48 bits that depend on every character (cyrb53, cut). */
function checksum(text: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return 2 ** 32 * (low & 0xffff) + (high >>> 0)
}
