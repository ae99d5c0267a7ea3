import { batch, computed, signal } from '@preact/signals'
import { ApiError, messageOf } from '../api/api-error.ts'
import { CloudApi } from '../api/cloud-api.ts'
import type { KeyShelf } from './key-shelf.ts'
import { talkKey } from './talk-key.ts'

/** The start of keys that open what this page shows. */
export const PRIVATE_PREFIX = 'sk_'
const PUBLIC_PREFIX = 'pk_'

/** Who is signed in, and how one comes and goes. */
export class Session {
  readonly key = signal<string | undefined>(undefined)
  readonly busy = signal(false)
  /** What people should know before they sign in. */
  readonly notice = signal<string | undefined>(undefined)
  readonly api = computed(() => (this.key.value === undefined ? undefined : this.#apiOf(this.key.value)))

  readonly #origin: string
  readonly #fetch: typeof fetch
  readonly #shelf: KeyShelf

  constructor(origin: string, fetchFunction: typeof fetch, shelf: KeyShelf) {
    this.#origin = origin
    this.#fetch = fetchFunction
    this.#shelf = shelf
    this.key.value = shelf.read()
  }

  /** Tries a key and keeps it if it opens. */
  async signIn(text: string, { long }: { readonly long: boolean }): Promise<void> {
    if (this.busy.value) return
    const key = text.trim()
    const problem = problemOfKey(key)
    this.notice.value = problem
    if (problem !== undefined) return
    this.busy.value = true
    try {
      await new CloudApi(this.#origin, this.#fetch, key).properties()
      this.#shelf.keep(key, { long })
      this.key.value = key
    } catch (error) {
      this.notice.value = refusalWords(error)
    } finally {
      this.busy.value = false
    }
  }

  /** The public key for the talk page. */
  async talkKey(): Promise<string> {
    const api = this.api.peek()
    if (api === undefined) throw new Error('You are signed out.')
    return talkKey(api, this.#shelf)
  }

  /** Signs out here and in all other tabs. */
  signOut(): void {
    this.#leave()
    this.#shelf.tellOthers()
  }

  /** Hears what another tab has changed of what is kept. */
  hear(change: Pick<StorageEvent, 'key' | 'newValue'>): void {
    if (this.key.peek() !== undefined && this.#shelf.isEndedBy(change)) {
      this.#leave('You were signed out in another tab.')
    }
  }

  #leave(reason?: string): void {
    this.#shelf.clear()
    batch(() => {
      this.key.value = undefined
      this.notice.value = reason
    })
  }

  #apiOf(key: string): CloudApi {
    return new CloudApi(this.#origin, this.#fetch, key, () => {
      // An answer to a key of before must not sign out the next one.
      if (this.key.peek() === key) {
        this.#leave('You were signed out: the cloud no longer knows your key. It may have been revoked.')
      }
    })
  }
}

function problemOfKey(key: string): string | undefined {
  if (key === '') return 'Enter a private key.'
  if (key.startsWith(PUBLIC_PREFIX)) {
    return `This is a public key. The dashboard needs a private one, which begins with ${PRIVATE_PREFIX}.`
  }
  // Anything else cannot stand in a header.
  return /^[\x21-\x7e]+$/.test(key)
    ? undefined
    : 'This is not a key: there are spaces or other characters in it that no key has.'
}

function refusalWords(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) {
    return 'The cloud does not know this key. Check that all of it was copied and that it was not revoked.'
  }
  return messageOf(error)
}
