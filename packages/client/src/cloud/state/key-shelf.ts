const NAME = 'botcli-cloud-key'
const SIGN_OUT = 'botcli-cloud-sign-out'

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
    const [shelf, other] = long ? [this.#long, this.#short] : [this.#short, this.#long]
    other.removeItem(NAME)
    shelf.setItem(NAME, key)
  }

  clear(): void {
    this.#short.removeItem(NAME)
    this.#long.removeItem(NAME)
  }

  /** Tells the other tabs of this browser that one signs out. */
  tellOthers(): void {
    this.#long.setItem(SIGN_OUT, 'yes')
    this.#long.removeItem(SIGN_OUT)
  }

  /** Whether a change that another tab has made signs out this one, too. */
  isEndedBy({ key, newValue }: Pick<StorageEvent, 'key' | 'newValue'>): boolean {
    return (key === SIGN_OUT && newValue !== null) || this.read() === undefined
  }
}
