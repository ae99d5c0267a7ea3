import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

const COPIED_FOR_MS = 1_600

/** The session's id, ready to be pasted into a log search. */
export function SessionChip({ sessionId }: { readonly sessionId: string | undefined }): VNode | null {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), COPIED_FOR_MS)
    return () => clearTimeout(timer)
  }, [copied])
  if (sessionId === undefined) return null
  const copy = (): void => {
    // Pages without https have no clipboard; there the id can still be selected by hand.
    navigator.clipboard?.writeText(sessionId).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <div class="session">
      <span class="session-label">Session</span>
      <code data-testid="session-id" title={sessionId}>
        {sessionId}
      </code>
      <button type="button" class="quiet" onClick={copy} aria-label="Copy the session id">
        <Icon name={copied ? 'done' : 'copy'} />
      </button>
      <span class="unseen" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </div>
  )
}
