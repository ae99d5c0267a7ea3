import type { OutgoingHttpHeader } from 'node:http'

const MAX_BYTES = 16 * 1024 * 1024
const MAX_ASKED = 1000

/** An answer as it is sent. */
export interface ReadyPage {
  /** Names and values in turns. */
  readonly head: OutgoingHttpHeader[]
  readonly body: Buffer
}

/**
 * Answers that were asked for more than once lately, so many bytes and no more; the one that was not asked for longest goes first. What is
 * asked for once is not kept, so that a reader that walks through a log takes nobody's place. A key stands for its bytes for ever, so that
 * nothing here can be out of date.
 */
export class ReadyPages {
  readonly #maxBytes: number
  readonly #pages = new Map<string, ReadyPage>()
  /** Keys of pages that were asked for once. */
  readonly #asked = new Set<string>()
  #bytes = 0

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

  /** Whether a page that is asked for now was asked for before. */
  isWanted(key: string): boolean {
    if (this.#asked.delete(key)) return true
    this.#asked.add(key)
    if (this.#asked.size > MAX_ASKED) dropOldest(this.#asked)
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
}

function dropOldest(keys: Set<string>): void {
  for (const oldest of keys) {
    keys.delete(oldest)
    return
  }
}
