import { CloudError } from '../errors.ts'

interface Waiter<T> {
  readonly sessionId: string
  readonly take: (place: T) => void
  readonly refuse: (error: CloudError) => void
  readonly timer: NodeJS.Timeout
}

/** Callers that wait for an instance to become ready, first come, first served. It is bounded by admission. */
export class WaitingLine<T> {
  readonly #waiters: Waiter<T>[] = []

  get length(): number {
    return this.#waiters.length
  }

  /** Waits for a place, so long at most. */
  wait(sessionId: string, limitMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        const message = `No instance became ready within ${Math.round(limitMs / 1000)} seconds. Try again.`
        reject(new CloudError('DEPLOY-NOT-READY', message, { retryAfterSeconds: 5 }))
      }, limitMs)
      const waiter = { sessionId, take: resolve, refuse: reject, timer }
      this.#waiters.push(waiter)
    })
  }

  /** Gives whoever waits longest a place, as long as there are both. */
  serve(next: (sessionId: string) => T | undefined): void {
    for (let first = this.#waiters[0]; first !== undefined; first = this.#waiters[0]) {
      const place = next(first.sessionId)
      if (place === undefined) return
      this.#leave(first)
      first.take(place)
    }
  }

  /** Sends everybody away. */
  refuse(error: CloudError): void {
    for (const waiter of [...this.#waiters]) {
      this.#leave(waiter)
      waiter.refuse(error)
    }
  }

  #leave(waiter: Waiter<T>): void {
    clearTimeout(waiter.timer)
    this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
  }
}
