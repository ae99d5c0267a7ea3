import type { ReadonlySignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { PageModel } from '../state/page-model.ts'
import type { PartProps } from './part.ts'

/** How strongly each bar answers to the level; the middle ones most, like the mark of the page. */
const BARS = [0.34, 0.58, 0.86, 1, 0.72, 0.92, 0.5, 0.3] as const

interface VoiceProps {
  readonly who: 'user' | 'bot'
  readonly name: string
  readonly caption: string
  readonly level: ReadonlySignal<number>
  readonly active: boolean
}

/** Both sides of the conversation, and how loud each is. */
export function Voices({ model }: PartProps): VNode {
  const speaking = model.speaking.value
  return (
    <div class="voices">
      <Voice
        who="user"
        name="You"
        caption={userCaption(model)}
        level={model.userLevel}
        active={speaking === 'user'}
      />
      <Voice
        who="bot"
        name="Bot"
        caption={botCaption(model)}
        level={model.botLevel}
        active={speaking === 'bot'}
      />
    </div>
  )
}

function Voice({ who, name, caption, level, active }: VoiceProps): VNode {
  return (
    <div class="voice" data-who={who} data-active={active}>
      <Meter who={who} name={name} level={level} />
      <div class="voice-words">
        <span class="voice-name">{name}</span>
        <span class="voice-caption">{caption}</span>
      </div>
    </div>
  )
}

/** Redrawn many times a second, so it is a component of its own. */
function Meter({ who, name, level }: Pick<VoiceProps, 'who' | 'name' | 'level'>): VNode {
  const value = level.value
  return (
    // biome-ignore lint/a11y/useSemanticElements: a <meter> cannot be drawn as bars in every browser
    <div
      class="meter"
      role="meter"
      aria-label={`Level: ${name}`}
      aria-valuemin={0}
      aria-valuemax={1}
      aria-valuenow={Number(value.toFixed(1))}
      data-testid={`level-${who}`}
      data-level={value.toFixed(3)}
    >
      {BARS.map((weight) => (
        <i key={weight} style={{ transform: `scaleY(${(0.1 + 0.9 * value * weight).toFixed(3)})` }} />
      ))}
    </div>
  )
}

function userCaption(model: PageModel): string {
  if (model.muted.value) return 'Muted'
  if (!model.talking.value) return 'Microphone off'
  if (!model.hasMicrophone.value) return 'No microphone'
  return model.speaking.value === 'user' ? 'Speaking' : 'Listening to you'
}

function botCaption(model: PageModel): string {
  switch (model.phase.value) {
    case 'connecting':
      return 'Waking up'
    case 'ready':
      return model.speaking.value === 'bot' ? 'Speaking' : 'Listening'
    default:
      return 'Asleep'
  }
}
