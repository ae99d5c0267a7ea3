import type { VNode } from 'preact'
import { readyCount, type Way, type WayStep } from '../state/ways.ts'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icon.tsx'
import type { PartProps } from './part.ts'

/** Phones, rooms and clients of one's own: what each needs, and what to copy to try it. */
export function WaysPanel({ model }: PartProps): VNode | null {
  const ways = model.ways.value
  if (ways.length === 0) return null
  return (
    <details class="card fold ways" data-testid="ways" open={!model.canTalk.value}>
      <summary>
        <h2>
          Other ways to reach your bot
          <small>{readyCount(ways)} ready</small>
        </h2>
      </summary>
      <ul class="ways-list">
        {ways.map((way) => (
          <WayRow key={way.id} way={way} open={ways.length === 1} />
        ))}
      </ul>
    </details>
  )
}

function WayRow({ way, open }: { readonly way: Way; readonly open: boolean }): VNode {
  const { id, label, needs, notes, steps } = way
  return (
    <li data-testid={`way-${id}`} data-ready={needs === undefined}>
      <details open={open}>
        <summary>
          <span class="way-label">{label}</span>
          <span class="way-state">{needs === undefined ? 'Ready' : `Needs ${needs.what}`}</span>
        </summary>
        <div class="way-body">
          {needs !== undefined && (
            <p class="way-needs">
              <Words text={needs.how} />
            </p>
          )}
          {steps.map((step) => (
            <Step key={step.text} step={step} of={label} />
          ))}
          {notes.map((note) => (
            <p key={note} class="hint">
              <Words text={note} />
            </p>
          ))}
        </div>
      </details>
    </li>
  )
}

function Step({ step, of }: { readonly step: WayStep; readonly of: string }): VNode {
  if (step.kind === 'link') {
    return (
      <a class="button small way-link" href={step.text} target="_blank" rel="noopener">
        {step.label}
        <Icon name="open" />
        <span class="unseen">in a new tab</span>
      </a>
    )
  }
  return (
    <div class="way-step">
      <p>{step.label}</p>
      <div class="way-copy">
        <code>{step.text}</code>
        <CopyButton text={step.text} label={`Copy the ${step.kind} for ${of}: ${step.label}`} />
      </div>
    </div>
  )
}

/** A sentence with what is to be typed in it set apart. */
function Words({ text }: { readonly text: string }): VNode {
  return (
    <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))}</>
  )
}
