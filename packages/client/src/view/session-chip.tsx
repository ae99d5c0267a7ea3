import type { VNode } from 'preact'
import { CopyButton } from './copy-button.tsx'

/** The session's id, ready to be pasted into a log search. */
export function SessionChip({ sessionId }: { readonly sessionId: string | undefined }): VNode | null {
  if (sessionId === undefined) return null
  return (
    <div class="session">
      <span class="session-label">Session</span>
      <code data-testid="session-id" title={sessionId}>
        {sessionId}
      </code>
      <CopyButton text={sessionId} label="Copy the session id" />
    </div>
  )
}
