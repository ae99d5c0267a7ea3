import type { TargetedSubmitEvent, VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import type { PartProps } from './part.ts'

/** What a person does during a conversation: type, mute, connect and hang up. */
export function Dock({ model }: PartProps): VNode {
  return (
    <div class="dock">
      <Composer model={model} />
      <div class="controls">
        <button
          type="button"
          class="button"
          data-testid="mute"
          aria-pressed={model.muted.value}
          onClick={() => model.toggleMute()}
        >
          <Icon name={model.muted.value ? 'microphoneOff' : 'microphone'} />
          {model.muted.value ? 'Unmute' : 'Mute'}
        </button>
        {model.busy.value ? (
          <button
            key="disconnect"
            type="button"
            class="button leave"
            data-testid="disconnect"
            onClick={() => model.disconnect()}
          >
            <Icon name="hangUp" />
            {model.talking.value ? 'Disconnect' : 'Cancel'}
          </button>
        ) : (
          <button
            key="connect"
            type="button"
            class="button go"
            data-testid="connect"
            disabled={!model.canTalk.value}
            onClick={() => void model.connect()}
          >
            <Icon name="talk" />
            {model.phase.value === 'idle' ? 'Connect' : 'Connect again'}
          </button>
        )}
      </div>
    </div>
  )
}

function Composer({ model }: PartProps): VNode {
  const input = useRef<HTMLInputElement>(null)
  const disabled = !model.talking.value
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    if (input.current === null) return
    void model.send(input.current.value)
    input.current.value = ''
  }
  return (
    <form class="composer" onSubmit={submit}>
      <label class="unseen" for="text">
        Message to the bot
      </label>
      <input
        id="text"
        ref={input}
        data-testid="text"
        type="text"
        autocomplete="off"
        enterkeyhint="send"
        maxLength={4000}
        placeholder={disabled ? 'Connect to type to your bot' : 'Type instead of speaking'}
        disabled={disabled}
      />
      <button type="submit" class="round" data-testid="send" aria-label="Send" disabled={disabled}>
        <Icon name="send" />
      </button>
    </form>
  )
}
