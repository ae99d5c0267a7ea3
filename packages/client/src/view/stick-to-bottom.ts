import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

const NEAR_PIXELS = 40

/** Keeps the end of a growing list in sight, unless the person has scrolled up to read. */
export function useStickToBottom<E extends HTMLElement>(content: unknown): RefObject<E | null> {
  const list = useRef<E>(null)
  const stuck = useRef(true)
  const stick = (): void => {
    const element = list.current
    if (element !== null && stuck.current) element.scrollTop = element.scrollHeight
  }
  useLayoutEffect(stick, [content])
  useEffect(() => {
    const element = list.current
    if (element === null) return
    const onScroll = (): void => {
      stuck.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PIXELS
    }
    // The list also shrinks when something beside it grows.
    const sizes = new ResizeObserver(stick)
    element.addEventListener('scroll', onScroll, { passive: true })
    sizes.observe(element)
    return () => {
      element.removeEventListener('scroll', onScroll)
      sizes.disconnect()
    }
  }, [])
  return list
}
