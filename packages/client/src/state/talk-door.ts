import { batch, signal } from '@preact/signals'
import type { KeyShelf } from '../cloud/state/key-shelf.ts'
import { CloudHost } from '../talk/cloud-host.ts'
import { PageModel } from './page-model.ts'

const PRIVATE_PREFIX = 'sk_'
/** What public keys begin with. */
export const PUBLIC_PREFIX = 'pk_'

/** What the page takes of the browser. */
export interface TalkDoorOptions {
  readonly origin: string
  readonly fetch: typeof fetch
  readonly shelf: KeyShelf
  /** The query and the fragment of the page's address. */
  readonly search: string
  readonly hash: string
}

/** The way to an agent of a cloud: one needs its name, from the address, and a public key. */
export class TalkDoor {
  /** Empty when the address names none. */
  readonly agent: string
  /** The page behind the door, while there is a key. */
  readonly page = signal<PageModel | undefined>(undefined)
  /** What people should know before they enter a key. */
  readonly notice = signal<string | undefined>(undefined)
  readonly #options: TalkDoorOptions

  constructor(options: TalkDoorOptions) {
    this.#options = options
    this.agent = new URLSearchParams(options.search).get('agent')?.trim() ?? ''
    const given = new URLSearchParams(options.hash.replace(/^#/, '')).get('key')
    const key = given ?? options.shelf.readPublic()
    if (this.agent !== '' && key !== undefined) this.enter(key)
  }

  /** Tries to go in with a key. Whether the cloud takes it shows with the first session. */
  enter(text: string): void {
    const key = text.trim()
    const problem = problemOfKey(key)
    if (problem !== undefined) {
      this.notice.value = problem
      return
    }
    this.#options.shelf.keepPublic(key)
    const { origin, fetch } = this.#options
    const host = new CloudHost({
      ...{ origin, fetch, key, agent: this.agent },
      refused: (words) => this.#leave(words),
    })
    const page = new PageModel(host)
    batch(() => {
      this.notice.value = undefined
      this.page.value = page
    })
    void page.load()
  }

  /** Hears what another tab has changed of what is kept. */
  hear(change: Pick<StorageEvent, 'key' | 'newValue'>): void {
    if (!this.#options.shelf.isSignOut(change)) return
    this.#options.shelf.clear()
    this.#leave('You were signed out in another tab.')
  }

  #leave(words: string): void {
    this.#options.shelf.clearPublic()
    this.page.peek()?.close()
    batch(() => {
      this.page.value = undefined
      this.notice.value = words
    })
  }
}

function problemOfKey(key: string): string | undefined {
  if (key === '') return 'Enter a public key.'
  if (key.startsWith(PRIVATE_PREFIX)) {
    return `This is a private key, which opens everything. To talk, a public one is enough; it begins with ${PUBLIC_PREFIX}.`
  }
  // Anything else cannot stand in a header.
  return /^[\x21-\x7e]+$/.test(key)
    ? undefined
    : 'This is not a key: there are spaces or other characters in it that no key has.'
}
