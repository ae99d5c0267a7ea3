import type { OutgoingHttpHeader } from 'node:http'

const MAX_BYTES = 16 * 1024 * 1024

/** An answer as it is sent. */
export interface ReadyPage {
  /** Names and values in turns. */
  readonly head: OutgoingHttpHeader[]
  readonly body: Buffer
}

/**
 * Answers that were asked for more than once lately, so many bytes and no more; the one that was not asked for longest goes first. What is
 * asked for once is not kept, so that a reader that walks through a log takes nobody's place; nor what comes again only after more than could
 * be kept. A key stands for its bytes for ever, so that nothing here can be out of date.
 */
export class ReadyPages {
  readonly #maxBytes: number
  readonly #pages = new Map<string, ReadyPage>()
  #bytes = 0
  /** How long the pages are that were asked for once lately, by key. */
  readonly #asked = new Map<string, number>()
  #askedBytes = 0

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  get(key: string): ReadyPage | undefined {
    const page = this.#pages.get(key)
    if (page === undefined) return undefined
    this.#pages.delete(key)
    this.#pages.set(key, page)
    return page
  }

  /** Whether a page that is asked for now is worth to be kept, because it was asked for before. */
  isWanted(key: string, bytes: number): boolean {
    if (this.#asked.has(key)) {
      this.#forget(key)
      return true
    }
    this.#asked.set(key, bytes)
    this.#askedBytes += bytes
    for (const oldest of this.#asked.keys()) {
      if (this.#askedBytes <= this.#maxBytes) break
      this.#forget(oldest)
    }
    return false
  }

  keep(key: string, page: ReadyPage): void {
    this.#drop(key)
    this.#pages.set(key, page)
    this.#bytes += page.body.length
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#pages.get(key)?.body.length ?? 0
    this.#pages.delete(key)
  }
  #forget(key: string): void {
    this.#askedBytes -= this.#asked.get(key) ?? 0
    this.#asked.delete(key)
  }
}
