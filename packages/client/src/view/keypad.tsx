import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PartProps } from './part.ts'

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'] as const
const KEYS_SHOWN = 16
const KEY_NAMES: Readonly<Record<string, string>> = { '*': 'star', '#': 'pound' }

/** Sends keys as a phone would. */
export function Keypad({ model }: PartProps): VNode {
  const [pressed, setPressed] = useState('')
  const session = model.sessionId.value
  // Keys belong to a call; the next one begins with none.
  useEffect(() => setPressed(''), [session])
  const press = (key: string): void => {
    setPressed((before) => (before + key).slice(-KEYS_SHOWN))
    void model.pressKey(key)
  }
  return (
    <details class="card fold keypad">
      <summary>
        <h2>Keypad</h2>
      </summary>
      <output class="pressed" aria-label="Keys pressed">
        {pressed}
      </output>
      <div class="keys">
        {KEYS.map((key) => (
          <button
            key={key}
            type="button"
            data-testid={`key-${KEY_NAMES[key] ?? key}`}
            aria-label={`Key ${KEY_NAMES[key] ?? key}`}
            disabled={!model.talking.value}
            onClick={() => press(key)}
          >
            {key}
          </button>
        ))}
      </div>
    </details>
  )
}
