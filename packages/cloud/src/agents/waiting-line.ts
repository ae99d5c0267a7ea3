import { CloudError } from '../errors.ts'

interface Waiter<T> {
  readonly sessionId: string
  readonly take: (place: T) => void
  readonly refuse: (error: CloudError) => void
  /** Frees what it waits with. */
  readonly close: () => void
}

/** How long a caller waits. */
export interface Patience {
  readonly limitMs: number
  /** Why there was no place, if there was none in time. */
  readonly tooLate: () => CloudError
  /** Aborted when the caller does not wait any more. */
  readonly gone: AbortSignal
}

/** Callers that wait for an instance to become ready, first come, first served. It is bounded by admission. */
export class WaitingLine<T> {
  readonly #waiters: Waiter<T>[] = []

  get length(): number {
    return this.#waiters.length
  }

  /** Waits for a place, so long at most, and no longer than the caller does. */
  wait(sessionId: string, { limitMs, tooLate, gone }: Patience): Promise<T> {
    return new Promise((resolve, reject) => {
      const refuse = (error: CloudError): void => {
        this.#leave(waiter)
        reject(error)
      }
      const timer = setTimeout(() => refuse(tooLate()), limitMs)
      const onGone = (): void => refuse(new CloudError('INVALID_REQUEST', 'The caller left while it waited.'))
      gone.addEventListener('abort', onGone)
      const close = (): void => {
        clearTimeout(timer)
        gone.removeEventListener('abort', onGone)
      }
      const waiter = { sessionId, take: resolve, refuse: reject, close }
      this.#waiters.push(waiter)
      if (gone.aborted) onGone()
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
    waiter.close()
    const place = this.#waiters.indexOf(waiter)
    if (place >= 0) this.#waiters.splice(place, 1)
  }
}
