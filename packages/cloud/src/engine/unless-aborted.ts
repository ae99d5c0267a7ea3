/** Waits for something until a signal comes: then it rejects at once, and what was begun goes on for others who wait for it. */
export async function unlessAborted<T>(signal: AbortSignal, begin: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
  })
  return await Promise.race([begin(), aborted]).finally(() => signal.removeEventListener('abort', abort))
}
