import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { CreateKeyRequest, CreateKeyResponse, KeyRecord } from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { Store, StoredKey } from '../store/store.ts'
import { hashOf, newKeyText, prefixOf } from './key-text.ts'

/** The time of last use is kept this exactly. */
const TOUCH_MS = 60_000
const MAX_KNOWN = 1000
/** Keys of one organization that were not revoked. */
const MAX_KEYS = 100

/** Keys: who may come in. */
export class KeyService {
  readonly #store: Store
  readonly #log: CloudLog
  readonly #clock: Clock
  /** Keys that were used lately, by hash, so that a request costs no query. Revoked ones are taken out at once. */
  readonly #known = new Map<string, { readonly key: StoredKey; touchedAt: number }>()
  /** Who wants to know that a key was revoked, by its id: those who were let in with it and are still there. */
  readonly #guests = new Map<string, Set<() => void>>()
  #revocations = 0

  constructor(store: Store, log: CloudLog, clock: Clock) {
    this.#store = store
    this.#log = log
    this.#clock = clock
  }

  /** Makes a key. This is the only time that it can be seen. */
  async create(
    organizationId: string,
    { name, family }: CreateKeyRequest,
    maxKeys = MAX_KEYS,
  ): Promise<CreateKeyResponse> {
    const valid = (await this.#store.keys.list(organizationId)).filter((key) => key.revokedAt === null)
    if (valid.length >= maxKeys) {
      throw new CloudError('CONFLICT', `There are ${valid.length} keys already. Revoke one that is not used.`)
    }
    const text = newKeyText(family)
    const key: StoredKey = {
      id: randomUUID(),
      organizationId,
      family,
      name,
      prefix: prefixOf(text),
      hash: hashOf(text),
      createdAt: this.#clock(),
      lastUsedAt: null,
      revokedAt: null,
    }
    await this.#store.keys.create(key)
    return { key: text, record: recordOf(key) }
  }

  async list(organizationId: string): Promise<readonly KeyRecord[]> {
    return (await this.#store.keys.list(organizationId)).map(recordOf)
  }

  /** Revokes a key; it opens nothing from now on, and who came in with it and is still there has to leave. */
  async revoke(organizationId: string, id: string): Promise<void> {
    this.#revocations += 1
    const result = await this.#store.keys.revoke(organizationId, id, this.#clock())
    if (result === 'missing') throw new CloudError('NOT_FOUND', `There is no key ${id}.`)
    if (result === 'last_private') {
      const message =
        'This is the last private key, and without one nobody could come in. Create another one first.'
      throw new CloudError('CONFLICT', message)
    }
    this.#revocations += 1
    for (const [hash, { key }] of this.#known) if (key.id === id) this.#known.delete(hash)
    for (const leave of this.#guests.get(id) ?? []) leave()
  }

  /** Calls this when a key is revoked. Gives what ends that. */
  onRevoked(id: string, leave: () => void): () => void {
    const guests = this.#guests.get(id) ?? new Set()
    this.#guests.set(id, guests.add(leave))
    return () => {
      guests.delete(leave)
      if (guests.size === 0 && this.#guests.get(id) === guests) this.#guests.delete(id)
    }
  }

  /** The key that a caller has shown, if it is one of ours and was not revoked; at once if it was used lately. */
  find(text: string): StoredKey | Promise<StoredKey | undefined> {
    const hash = hashOf(text)
    const known = this.#known.get(hash)
    if (!known) return this.#look(hash)
    this.#touch(known)
    return known.key
  }

  async #look(hash: string): Promise<StoredKey | undefined> {
    const revocations = this.#revocations
    const key = await this.#store.keys.byHash(hash)
    if (!key || key.revokedAt !== null || !isSame(key.hash, hash)) return undefined
    const entry = { key, touchedAt: key.lastUsedAt ?? 0 }
    this.#touch(entry)
    // What was read before a key was revoked must not be kept after it.
    if (revocations === this.#revocations) this.#remember(hash, entry)
    return key
  }

  #remember(hash: string, entry: { readonly key: StoredKey; touchedAt: number }): void {
    if (this.#known.size >= MAX_KNOWN) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest)
        break
      }
    }
    this.#known.set(hash, entry)
  }

  #touch(entry: { readonly key: StoredKey; touchedAt: number }): void {
    const now = this.#clock()
    if (now - entry.touchedAt < TOUCH_MS) return
    entry.touchedAt = now
    this.#store.keys.touch(entry.key.id, now).catch((error: unknown) => {
      this.#log.warn('the last use of a key was not noted', { keyId: entry.key.id, error })
    })
  }
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

function recordOf(key: StoredKey): KeyRecord {
  return {
    id: key.id,
    name: key.name,
    family: key.family,
    prefix: key.prefix,
    createdAt: new Date(key.createdAt).toISOString(),
    lastUsedAt: key.lastUsedAt === null ? null : new Date(key.lastUsedAt).toISOString(),
    revokedAt: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
  }
}
