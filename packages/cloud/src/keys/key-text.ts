import { hash, randomBytes } from 'node:crypto'
import { KEY_PREFIXES, type KeyFamily } from '@botcli/protocol/cloud'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_BYTES = 32
/** As many as any 32 bytes need. */
const LENGTH = 43
/** Of the random part; enough to know a key again by, far too little to guess the rest. */
const SHOWN = 6

/** A new key: what it opens, and 32 random bytes. */
export function newKeyText(family: KeyFamily): string {
  return `${KEY_PREFIXES[family]}${base62(randomBytes(RANDOM_BYTES))}`
}

/** The part of a key that may be shown. */
export function prefixOf(key: string): string {
  return key.slice(0, 3 + SHOWN)
}

/** What is stored instead of the key. */
export function hashOf(key: string): string {
  return hash('sha256', key, 'hex')
}

function base62(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  while (value > 0n) {
    text = `${DIGITS[Number(value % 62n)]}${text}`
    value /= 62n
  }
  return text.padStart(LENGTH, '0')
}
