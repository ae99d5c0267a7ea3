import { type Line, lineText } from './talk/conversation'

interface Props {
  readonly lines: readonly Line[]
  /** Shown while there are none. */
  readonly hint: string
}

/** What was said so far. */
export function Transcript({ lines, hint }: Props) {
  return (
    <div className="conversation" role="log" aria-label="Conversation" tabIndex={0}>
      <ol>
        {lines.map((line) => (
          <li key={line.id} className={`line ${line.who}`}>
            <span className="who">{line.who === 'user' ? 'You' : 'Bot'}</span>
            <span className="text">{lineText(line)}</span>
          </li>
        ))}
      </ol>
      {lines.length === 0 && <p className="hint">{hint}</p>}
    </div>
  )
}
