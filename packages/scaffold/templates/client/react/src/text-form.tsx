import { useState } from 'react'

interface Props {
  readonly active: boolean
  readonly onText: (text: string) => void
}

/** Something to say without a voice. */
export function TextForm({ active, onText }: Props) {
  const [text, setText] = useState('')
  return (
    <form
      className="typed"
      onSubmit={(event) => {
        event.preventDefault()
        if (!active || text.trim() === '') return
        onText(text.trim())
        setText('')
      }}
    >
      <input
        aria-label="Message"
        placeholder="Type a message"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" disabled={!active || text.trim() === ''}>
        Send
      </button>
    </form>
  )
}
