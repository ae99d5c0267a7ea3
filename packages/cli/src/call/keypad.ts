import type { Keyboard } from '../io.ts'

/** What keys of a terminal can do. */
export interface KeypadEvents {
  press(key: string): void
  hangUp(): void
  interrupt(): void
}

const CTRL_C = '\u0003'

/** Makes a terminal a phone's keypad. Gives how to make it a terminal again. */
export function openKeypad(keyboard: Keyboard | undefined, events: KeypadEvents): () => void {
  if (keyboard?.isTTY !== true || keyboard.setRawMode === undefined) return () => {}
  const onData = (typed: Uint8Array | string) => {
    const text = typeof typed === 'string' ? typed : Buffer.from(typed).toString()
    for (const key of text) {
      if (/^[0-9*#]$/.test(key)) events.press(key)
      else if (key === 'q' || key === 'Q') events.hangUp()
      // A terminal that gives its keys one by one gives this one instead of a signal.
      else if (key === CTRL_C) events.interrupt()
    }
  }
  keyboard.setRawMode(true)
  keyboard.on('data', onData)
  keyboard.resume()
  return () => {
    keyboard.off('data', onData)
    keyboard.setRawMode?.(false)
    keyboard.pause()
  }
}
