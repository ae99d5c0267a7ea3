import type { BuildRecord } from '@botcli/protocol/cloud'
import type { ComponentChildren, VNode } from 'preact'
import { CopyButton } from '../../view/copy-button.tsx'
import type { Shown } from '../state/agent-words.ts'
import { agoWords, STATUS_TONES, STATUS_WORDS, shownStatus } from '../state/words.ts'

/** A state, in a word and a colour. */
export function Badge({ words, tone }: Shown): VNode {
  return (
    <span class="badge" data-tone={tone}>
      {words}
    </span>
  )
}

/** The status of a build. */
export function StatusBadge({ build }: { readonly build: BuildRecord }): VNode {
  const status = shownStatus(build)
  return <Badge words={STATUS_WORDS[status]} tone={STATUS_TONES[status]} />
}

/** A moment, as how long ago it was; the exact time is in its tip. */
export function Ago({ at, now }: { readonly at: string; readonly now: number }): VNode {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {agoWords(at, now)}
    </time>
  )
}

/** Something that went wrong. The region is always there, so that screen readers watch it. */
export function Trouble({ text }: { readonly text: string | undefined }): VNode {
  return (
    <div role="alert">
      {text !== undefined && (
        <div class="notice" data-testid="trouble">
          {text}
        </div>
      )}
    </div>
  )
}

/** A command to be run elsewhere. */
export function Command({ text }: { readonly text: string }): VNode {
  return (
    <span class="command">
      <code>{text}</code>
      <CopyButton text={text} label="Copy the command" />
    </span>
  )
}

/** What stands where nothing is yet. */
export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children: ComponentChildren
}): VNode {
  return (
    <div class="nothing" data-testid="empty">
      <p class="nothing-title">{title}</p>
      {children}
    </div>
  )
}

/** The top of a section. */
export function Heading({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}): VNode {
  return (
    <div class="heading">
      <h1 tabIndex={-1}>{title}</h1>
      <div class="heading-tools">{children}</div>
    </div>
  )
}

interface FactProps {
  readonly name: string
  readonly wide?: boolean
  readonly children: ComponentChildren
}

/** Something that is known, with its name. */
export function Fact({ name, wide = false, children }: FactProps): VNode {
  return (
    <div class="fact" data-wide={wide}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
