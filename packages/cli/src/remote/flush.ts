import { setTimeout as sleep } from 'node:timers/promises'
import type { Output } from '../io.ts'

const STEP_MS = 5
/** For so long somebody waits who wants to leave. */
const LEAVE_MS = 1000

/** Waits until a stream has passed on what was written to it: a pipe takes time, and what it has not taken is lost at the end. */
export async function flushed(
  output: Output,
  { gone, leaving }: { readonly gone: AbortSignal; readonly leaving: AbortSignal },
  limit = 0,
): Promise<void> {
  for (let left = LEAVE_MS; (output.writableLength ?? 0) > limit && !gone.aborted && left > 0; ) {
    await sleep(STEP_MS)
    if (leaving.aborted) left -= STEP_MS
  }
}
