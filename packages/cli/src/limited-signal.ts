/** A signal with an owner. */
export interface LimitedSignal {
  readonly signal: AbortSignal
  close(): void
}

/**
 * A signal that aborts with another one, or after a time. `AbortSignal.any` with `AbortSignal.timeout` will not do: nobody holds the
 * timeout, so that Node may collect it before it fires.
 */
export function limitSignal(signal: AbortSignal, limitMs: number): LimitedSignal {
  const own = new AbortController()
  const abort = (): void => own.abort(signal.reason)
  const timer = setTimeout(() => own.abort(new DOMException('The time is up.', 'TimeoutError')), limitMs)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  return {
    signal: own.signal,
    close: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}
