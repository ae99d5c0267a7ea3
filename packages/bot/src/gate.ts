/** A place to wait: everybody who waits goes on when it is opened, and it shuts again behind them. */
export class Gate {
  #waiting: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  /** Resolves when the gate is opened the next time. */
  wait(): Promise<void> {
    if (this.#waiting === undefined) {
      let resolve = (): void => {}
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      this.#waiting = { promise, resolve }
    }
    return this.#waiting.promise
  }

  /** Lets everybody go on. */
  open(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}
