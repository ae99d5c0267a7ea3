import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'

/** Makes something for as long as a part of the page is there and its inputs stay the same. */
export function useModel<T extends { close(): void }>(make: () => T, inputs: readonly unknown[]): T {
  const model = useMemo(make, inputs)
  useEffect(() => () => model.close(), [model])
  return model
}

/** The time, every second while that matters. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** Gives the focus to a field when it appears: because somebody asked for it, or because it is all there is to do. */
export function useFirstField(): RefObject<HTMLInputElement | null> {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  return field
}
