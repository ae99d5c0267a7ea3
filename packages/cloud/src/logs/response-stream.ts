import type { ServerResponse } from 'node:http'

/** Calls something after a time, and gives a function that calls it off. */
export type After = (ms: number, act: () => void) => () => void

/** Timers of this process. They do not keep it alive. */
export const realAfter: After = (ms, act) => {
  const timer = setTimeout(act, ms).unref()
  return () => clearTimeout(timer)
}

/** How long a client may take nothing of what is sent to it. */
const STALL_MS = 60_000

/** A response that is sent in pieces, no faster than its client takes them. */
export class ResponseStream {
  readonly #response: ServerResponse
  readonly #after: After
  #waiting = false

  constructor(response: ServerResponse, after: After) {
    this.#response = response
    this.#after = after
  }

  get gone(): boolean {
    return this.#response.destroyed || this.#response.writableEnded
  }

  /** Whether the client has not yet taken what was sent. */
  get waiting(): boolean {
    return this.#waiting
  }

  /** Sends what nobody will write to, and waits only when the client is slow. Says whether the client is still there. */
  async send(bytes: Uint8Array | string): Promise<boolean> {
    if (this.gone) return false
    if (this.#response.write(bytes)) return true
    return this.#until((done) => this.#response.once('drain', done))
  }

  /** Sends the bytes of a buffer that is used again as soon as this resolves. */
  async sendReused(bytes: Uint8Array): Promise<boolean> {
    if (this.gone) return false
    return this.#until((done) => this.#response.write(bytes, done))
  }

  async #until(begin: (done: () => void) => void): Promise<boolean> {
    this.#waiting = true
    await new Promise<void>((resolve) => {
      const cancel = this.#after(STALL_MS, () => this.#response.destroy())
      const done = () => {
        cancel()
        this.#response.off('close', done)
        this.#response.off('drain', done)
        resolve()
      }
      this.#response.once('close', done)
      begin(done)
    })
    this.#waiting = false
    return !this.gone
  }
}

/** Sends a comment every so often, unless the client has not taken what came before; gives a function that ends this. */
export function sendComments(stream: ResponseStream, comment: string, ms: number, after: After): () => void {
  let cancel = () => {}
  const next = () => {
    cancel = after(ms, () => {
      if (!stream.waiting) void stream.send(comment)
      next()
    })
  }
  next()
  return () => cancel()
}
