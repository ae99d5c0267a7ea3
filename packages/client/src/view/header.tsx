import type { VNode } from 'preact'
import type { Phase } from '../state/page-model.ts'
import type { PartProps } from './part.ts'
import { SessionChip } from './session-chip.tsx'

const PHASE_WORDS: Readonly<Record<Phase, string>> = {
  idle: 'Not connected',
  connecting: 'Connecting',
  ready: 'Connected',
  ended: 'Ended',
  failed: 'Failed',
}

/** The name of the page, the session, and where the conversation stands. */
export function Header({ model }: PartProps): VNode {
  const phase = model.phase.value
  return (
    <header class="top">
      <div class="brand">
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
          <rect width="32" height="32" rx="9" />
          <path d="M8 13.5v5M13.3 9.5v13M18.7 12v8M24 14.5v3" />
        </svg>
        <h1>Talk to your bot</h1>
      </div>
      <SessionChip sessionId={model.sessionId.value} />
      <p class="state" role="status" data-testid="state" data-state={phase}>
        {PHASE_WORDS[phase]}
      </p>
    </header>
  )
}
