/** What a browser keeps, in memory. */
export class TestStorage implements Storage {
  [name: string]: unknown
  readonly #items: Map<string, string>
  readonly #onChange: (name: string, value: string | null) => void

  /** Another one may share its items; changes are told. */
  constructor(shared?: TestStorage, onChange: (name: string, value: string | null) => void = () => {}) {
    this.#items = shared === undefined ? new Map() : shared.#items
    this.#onChange = onChange
  }

  get length(): number {
    return this.#items.size
  }

  clear(): void {
    this.#items.clear()
  }

  getItem(name: string): string | null {
    return this.#items.get(name) ?? null
  }

  key(index: number): string | null {
    return [...this.#items.keys()][index] ?? null
  }

  removeItem(name: string): void {
    if (this.#items.delete(name)) this.#onChange(name, null)
  }

  setItem(name: string, value: string): void {
    this.#items.set(name, value)
    this.#onChange(name, value)
  }
}
