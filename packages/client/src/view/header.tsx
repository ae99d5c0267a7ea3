import type { VNode } from 'preact'
import type { Phase } from '../state/page-model.ts'
import { Mark } from './mark.tsx'
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
        <Mark />
        <h1>Talk to {model.host.bot}</h1>
      </div>
      <SessionChip model={model} />
      <p class="state" role="status" data-testid="state" data-state={phase}>
        {PHASE_WORDS[phase]}
      </p>
    </header>
  )
}
