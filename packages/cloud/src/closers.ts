/** What has to be closed, in the order in which it was opened. */
export class Closers {
  readonly #all: (() => void | Promise<void>)[] = []

  add(close: () => void | Promise<void>): void {
    this.#all.push(close)
  }

  /** Closes the last one first. */
  async closeAll(): Promise<void> {
    for (const close of this.#all.splice(0).reverse()) await close()
  }
}
