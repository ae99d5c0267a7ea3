const NAME = 'botcli-cloud-key'

/** Where the key is kept: until the tab is closed, or until one signs out. */
export class KeyShelf {
  readonly #short: Storage
  readonly #long: Storage

  constructor(short: Storage, long: Storage) {
    this.#short = short
    this.#long = long
  }

  read(): string | undefined {
    return this.#short.getItem(NAME) ?? this.#long.getItem(NAME) ?? undefined
  }

  keep(key: string, { long }: { readonly long: boolean }): void {
    this.clear()
    const shelf = long ? this.#long : this.#short
    shelf.setItem(NAME, key)
  }

  clear(): void {
    this.#short.removeItem(NAME)
    this.#long.removeItem(NAME)
  }
}
