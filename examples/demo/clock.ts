import { setTimeout } from 'node:timers/promises'

/** Time, as a conversation needs it. */
export interface Clock {
  /** Milliseconds since 1970, never running backwards. */
  now(): number
  /** Resolves after `ms`, or at once when `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The time of this computer. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: async (ms, signal) => {
    await setTimeout(ms, undefined, { signal }).catch(() => undefined)
  },
}
