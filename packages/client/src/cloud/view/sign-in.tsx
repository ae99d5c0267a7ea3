import type { TargetedSubmitEvent, VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { Mark } from '../../view/mark.tsx'
import { PRIVATE_PREFIX, type Session } from '../state/session.ts'
import { Command, Trouble } from './parts.tsx'
import { useFirstField } from './use-model.ts'

/** Where one signs in with a key. */
export function SignIn({ session }: { readonly session: Session }): VNode {
  const key = useFirstField()
  const long = useRef<HTMLInputElement>(null)
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    void session.signIn(key.current?.value ?? '', { long: long.current?.checked ?? false })
  }
  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit} data-testid="sign-in">
        <div class="brand">
          <Mark />
          <h1>Your cloud</h1>
        </div>
        <label for="key">Private key</label>
        <input
          id="key"
          ref={key}
          class="input"
          type="password"
          name="key"
          autocomplete="current-password"
          spellcheck={false}
          placeholder={`${PRIVATE_PREFIX}…`}
          aria-describedby="key-hint"
        />
        <label class="check">
          <input ref={long} type="checkbox" name="long" />
          Keep me signed in on this browser
        </label>
        <Trouble text={session.notice.value} />
        <button type="submit" class="button go" disabled={session.busy.value}>
          {session.busy.value ? 'Signing in…' : 'Sign in'}
        </button>
        <p class="hint" id="key-hint">
          The cloud showed a private key when it was started for the first time. If it is lost, whoever runs
          the cloud gets another one by starting it with <Command text="botcli cloud --new-key" />
        </p>
      </form>
    </main>
  )
}
