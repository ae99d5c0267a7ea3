import { setTimeout as sleep } from 'node:timers/promises'
import { RemoteError } from './remote-error.ts'

/** Waits for so many milliseconds. */
export type Wait = (ms: number, signal?: AbortSignal) => Promise<void>

const TRIES = 4
const FIRST_MS = 250
const LONGEST_MS = 10_000

/** Waits on the clock. */
export const realWait: Wait = async (ms, signal) => {
  await sleep(ms, undefined, signal ? { signal } : {})
}

/** How long to wait before the next try: longer each time, and not the same for all who wait. */
export function backOff(tries: number, random: () => number = Math.random): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(tries, 16)) * (0.5 + random() / 2)
}

/** Does again what failed for a reason that may pass, which is told. Only for what can be done twice. */
export async function withRetries<T>(
  work: () => Promise<T>,
  wait: Wait,
  signal?: AbortSignal,
  onFailure: (error: RemoteError) => void = () => {},
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      const passes = error instanceof RemoteError && error.isPassing && tries + 1 < TRIES
      if (!passes || signal?.aborted) throw error
      onFailure(error)
      await wait(Math.min(error.retryAfterMs ?? backOff(tries), LONGEST_MS), signal)
    }
  }
}
