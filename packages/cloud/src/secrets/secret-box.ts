import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const VERSION = 1
const KEY_ID_BYTES = 4
const IV_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + KEY_ID_BYTES + IV_BYTES + TAG_BYTES

/** A key that values are sealed with, and the id that their sealed form carries. */
export interface BoxKey {
  /** Eight hex digits. */
  readonly id: string
  /** 32 bytes. */
  readonly bytes: Uint8Array
}

/**
 * Seals values with AES-256-GCM. A sealed value is: version (1 byte), id of the key (4), nonce (12), tag (16), ciphertext. The place where
 * it is stored is sealed in, so that it cannot be moved to another one. Older keys open what they have sealed; the newest one seals.
 */
export class SecretBox {
  readonly #keys: ReadonlyMap<string, BoxKey>
  readonly #newest: BoxKey

  /** Takes the keys, newest first. */
  constructor(newest: BoxKey, ...older: readonly BoxKey[]) {
    this.#newest = newest
    this.#keys = new Map([...older, newest].map((key) => [key.id, key]))
  }

  seal(value: string, place: string): Uint8Array {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#newest.bytes, iv)
    cipher.setAAD(Buffer.from(place))
    const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
    const head = [Buffer.of(VERSION), Buffer.from(this.#newest.id, 'hex'), iv, cipher.getAuthTag()]
    return Buffer.concat([...head, body])
  }

  /** Throws for anything that was not sealed by one of the keys for this place. */
  open(sealed: Uint8Array, place: string): string {
    const bytes = Buffer.from(sealed)
    if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION) throw new Error('This is not a sealed value.')
    const id = bytes.toString('hex', 1, 1 + KEY_ID_BYTES)
    const key = this.#keys.get(id)
    if (!key) throw new Error(`A value was sealed with key ${id}, which the key file does not have.`)
    const ivEnd = 1 + KEY_ID_BYTES + IV_BYTES
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(1 + KEY_ID_BYTES, ivEnd), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(place))
    decipher.setAuthTag(bytes.subarray(ivEnd, HEAD_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8')
  }

  /** A key of its own for another purpose; it is the same after a restart. */
  derive(purpose: string): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#newest.bytes, '', `botcli cloud ${purpose}`, 32))
  }
}
