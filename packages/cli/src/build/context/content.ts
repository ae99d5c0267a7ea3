import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { unreadable } from './context-error.ts'

/** Up to here a file is read in one go, which costs a fraction of a stream. */
const SMALL_BYTES = 64 * 1024
const BATCH = 16

/** The bytes of a file, piece by piece. What cannot be read is told by its path in the context. */
export async function* contentOf(
  file: { readonly path: string; readonly size: number },
  place: string,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    if (file.size <= SMALL_BYTES) yield await readFile(place, { signal })
    else for await (const chunk of createReadStream(place, { signal })) yield chunk
  } catch (error) {
    signal.throwIfAborted()
    throw unreadable(file.path, error)
  }
}

/** Does something to each of many, some at a time, and gives the results in their order. */
export async function inBatches<T, R>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  for (let start = 0; start < items.length; start += BATCH) {
    signal.throwIfAborted()
    results.push(...(await Promise.all(items.slice(start, start + BATCH).map(work))))
  }
  return results
}
