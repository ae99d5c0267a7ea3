type Listener<Args extends unknown[]> = (...args: Args) => unknown

/** Listeners by event. What a listener throws or rejects with is handed on, never lost. */
export class Emitter<Events extends Record<keyof Events, unknown[]>> {
  readonly #listeners: { [K in keyof Events]?: readonly Listener<Events[K]>[] } = {}
  readonly #fail: (error: unknown) => void

  constructor(fail: (error: unknown) => void) {
    this.#fail = fail
  }

  on<K extends keyof Events>(event: K, listener: Listener<Events[K]>): void {
    this.#listeners[event] = [...(this.#listeners[event] ?? []), listener]
  }

  off<K extends keyof Events>(event: K, listener: Listener<Events[K]>): void {
    this.#listeners[event] = this.#listeners[event]?.filter((known) => known !== listener) ?? []
  }

  has<K extends keyof Events>(event: K, listener?: Listener<Events[K]>): boolean {
    const listeners = this.#listeners[event] ?? []
    return listener === undefined ? listeners.length > 0 : listeners.includes(listener)
  }

  emit<K extends keyof Events>(event: K, ...args: Events[K]): void {
    for (const listener of this.#listeners[event] ?? []) this.call(listener, ...args)
  }

  /** Calls one listener with the same care. */
  call<Args extends unknown[]>(listener: Listener<Args>, ...args: Args): void {
    try {
      const result = listener(...args)
      if (result instanceof Promise) result.catch(this.#fail)
    } catch (error) {
      this.#fail(error)
    }
  }
}
