import type { TargetedSubmitEvent, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { PUBLIC_PREFIX, type TalkDoor } from '../state/talk-door.ts'
import { Mark } from './mark.tsx'
import { Page } from './page.tsx'

interface TalkDoorProps {
  readonly door: TalkDoor
}

/** The talk page of an agent in a cloud, or what is needed to get there. */
export function TalkDoorView({ door }: TalkDoorProps): VNode {
  const page = door.page.value
  if (page !== undefined) return <Page model={page} />
  return (
    <main class="door">
      <div class="card door-card">
        <div class="brand">
          <Mark />
          <h1>{door.agent === '' ? 'Talk to an agent' : `Talk to ${door.agent}`}</h1>
        </div>
        {door.agent === '' ? <Nobody /> : <KeyForm door={door} />}
      </div>
    </main>
  )
}

function Nobody(): VNode {
  return (
    <>
      <p>The address of this page names no agent. It looks like this:</p>
      <code>/talk/?agent=my-bot</code>
      <p class="hint">
        <a href="/">Open the dashboard</a> and press “Talk” at an agent.
      </p>
    </>
  )
}

function KeyForm({ door }: TalkDoorProps): VNode {
  const key = useRef<HTMLInputElement>(null)
  useEffect(() => key.current?.focus(), [])
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    door.enter(key.current?.value ?? '')
  }
  const notice = door.notice.value
  return (
    <form data-testid="key-form" onSubmit={submit}>
      <label for="key">Public key</label>
      <input
        id="key"
        ref={key}
        type="password"
        name="key"
        autocomplete="off"
        spellcheck={false}
        placeholder={`${PUBLIC_PREFIX}…`}
        aria-describedby="key-hint"
      />
      <div role="alert">
        {notice !== undefined && (
          <div class="notice" data-testid="trouble">
            {notice}
          </div>
        )}
      </div>
      <button type="submit" class="button go">
        Go on
      </button>
      <p class="hint" id="key-hint">
        It is kept until this tab is closed. Whoever runs the cloud makes keys in its{' '}
        <a href="/">dashboard</a>, which also opens this page without asking.
      </p>
    </form>
  )
}
