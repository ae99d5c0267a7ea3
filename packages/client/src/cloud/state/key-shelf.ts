const NAME = 'botcli-cloud-key'
const PUBLIC_NAME = 'botcli-cloud-public-key'
const SIGN_OUT = 'botcli-cloud-sign-out'

/** Where the private key and the public one for the talk page are kept: until the tab is closed, or until one signs out. */
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
    // It may be of another organization.
    this.clearPublic()
    shelf.setItem(NAME, key)
  }

  readPublic(): string | undefined {
    return this.#short.getItem(PUBLIC_NAME) ?? this.#long.getItem(PUBLIC_NAME) ?? undefined
  }

  /** Keeps the public key where the private one is, or in this tab if there is none. */
  keepPublic(key: string): void {
    const isLong = this.#short.getItem(NAME) === null && this.#long.getItem(NAME) !== null
    this.clearPublic()
    ;(isLong ? this.#long : this.#short).setItem(PUBLIC_NAME, key)
  }

  clearPublic(): void {
    this.#short.removeItem(PUBLIC_NAME)
    this.#long.removeItem(PUBLIC_NAME)
  }

  clear(): void {
    this.#short.removeItem(NAME)
    this.#long.removeItem(NAME)
    this.clearPublic()
  }

  /** Tells the other tabs of this browser that one signs out. */
  tellOthers(): void {
    this.#long.setItem(SIGN_OUT, 'yes')
    this.#long.removeItem(SIGN_OUT)
  }

  /** Whether a change that another tab has made signs out this one, too. */
  isEndedBy(change: Pick<StorageEvent, 'key' | 'newValue'>): boolean {
    return this.isSignOut(change) || this.read() === undefined
  }

  /** Whether a change of another tab says that somebody signs out. */
  isSignOut({ key, newValue }: Pick<StorageEvent, 'key' | 'newValue'>): boolean {
    return key === SIGN_OUT && newValue !== null
  }
}
