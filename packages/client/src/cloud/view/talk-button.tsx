import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Icon } from '../../view/icon.tsx'
import { messageOf } from '../api/api-error.ts'
import type { Session } from '../state/session.ts'
import { talkAddress } from '../state/talk-key.ts'

const BLOCKED = 'The browser did not let this page open a tab. Allow that for this address, then try again.'

interface TalkButtonProps {
  readonly agent: string
  readonly session: Session
  readonly onProblem: (problem: string | undefined) => void
}

/** Opens the talk page for an agent in a new tab. */
export function TalkButton({ agent, session, onProblem }: TalkButtonProps): VNode {
  const [busy, setBusy] = useState(false)
  const open = async (): Promise<void> => {
    // Browsers let a page open a tab only while a click is being handled, so the tab comes before the key.
    const tab = window.open('about:blank', '_blank')
    if (tab === null) {
      onProblem(BLOCKED)
      return
    }
    tab.opener = null
    setBusy(true)
    try {
      tab.location.replace(new URL(talkAddress(agent, await session.talkKey()), location.origin))
      onProblem(undefined)
    } catch (error) {
      tab.close()
      onProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <button
      type="button"
      class="button small go"
      data-testid="talk"
      title="Opens in a new tab"
      disabled={busy}
      onClick={() => void open()}
    >
      <Icon name="talk" />
      Talk
      <span class="unseen">in a new tab</span>
    </button>
  )
}
