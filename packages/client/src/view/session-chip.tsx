import type { VNode } from 'preact'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icon.tsx'
import type { PartProps } from './part.ts'

/** The session's id, ready to be pasted into a log search, and the way to its page where there is one. */
export function SessionChip({ model }: PartProps): VNode | null {
  const sessionId = model.sessionId.value
  if (sessionId === undefined) return null
  const page = model.host.sessionPage(sessionId)
  return (
    <div class="session">
      <span class="session-label">Session</span>
      <code data-testid="session-id" title={sessionId}>
        {sessionId}
      </code>
      <CopyButton text={sessionId} label="Copy the session id" />
      {page !== undefined && (
        <a
          class="quiet"
          href={page}
          target="_blank"
          rel="noopener"
          aria-label="Show the session on the dashboard, in a new tab"
          title="Show the session on the dashboard"
        >
          <Icon name="open" />
        </a>
      )}
    </div>
  )
}
