import { useEffect, useRef } from 'react'
import { type Line, lineText } from './talk/conversation'

/** What was said so far; the newest line stays in view. */
export function Transcript({ lines }: { readonly lines: readonly Line[] }) {
  const end = useRef<HTMLLIElement>(null)

  useEffect(() => {
    if (lines.length > 0) end.current?.scrollIntoView({ block: 'end' })
  }, [lines])

  return (
    <section className="conversation" aria-label="Conversation">
      {lines.length === 0 && <p className="hint">Connect, then speak or type.</p>}
      <ol role="log">
        {lines.map((line) => (
          <li key={line.id} className={`line ${line.who}`}>
            <span className="who">{line.who === 'user' ? 'You' : 'Bot'}</span>
            <span className="text">{lineText(line)}</span>
          </li>
        ))}
        <li ref={end} className="end" aria-hidden="true" />
      </ol>
    </section>
  )
}
