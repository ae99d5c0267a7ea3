import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../../view/icon.tsx'

/** The most values that are entered at once. */
const MAX_FIELDS = 50

/** Names and values to be entered. A value is never shown, not even while it is typed, and may have several lines. */
export function SecretFields(): VNode {
  const [rows, setRows] = useState<readonly number[]>([0])
  const add = (): void => setRows([...rows, (rows.at(-1) ?? 0) + 1])
  return (
    <fieldset class="secret-fields">
      <legend class="unseen">Variables</legend>
      {rows.map((row, index) => (
        <div key={row} class="secret-field">
          <label class="unseen" for={`secret-key-${row}`}>
            Name of variable {index + 1}
          </label>
          <input
            id={`secret-key-${row}`}
            name="key"
            class="input"
            required
            maxLength={64}
            pattern="[a-zA-Z_][a-zA-Z0-9_]*"
            title="The name of an environment variable: letters, digits and underscores"
            placeholder="OPENAI_API_KEY"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
          />
          <label class="unseen" for={`secret-value-${row}`}>
            Value of variable {index + 1}
          </label>
          <textarea
            id={`secret-value-${row}`}
            name="value"
            class="input veiled"
            rows={1}
            required
            maxLength={65_536}
            placeholder="Value"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Leave out variable ${index + 1}`}
            disabled={rows.length === 1}
            onClick={() => setRows(rows.filter((other) => other !== row))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <button type="button" class="button small plain" disabled={rows.length >= MAX_FIELDS} onClick={add}>
        <Icon name="add" />
        Another variable
      </button>
    </fieldset>
  )
}

/** What was entered. */
export function secretsOf(form: FormData): { secretKey: string; secretValue: string }[] {
  const values = form.getAll('value').map(text)
  return form.getAll('key').map((key, index) => ({
    secretKey: text(key),
    // Forms send lines as old protocols do.
    secretValue: (values[index] ?? '').replaceAll('\r\n', '\n'),
  }))
}

/** The text in a field of a form. */
export function fieldOf(form: FormData, name: string): string {
  return text(form.get(name))
}

function text(value: FormDataEntryValue | null): string {
  return typeof value === 'string' ? value : ''
}
