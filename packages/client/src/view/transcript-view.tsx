import type { VNode } from 'preact'
import type { Phase } from '../state/page-model.ts'
import { glue, type Line, type Segment } from '../state/transcript.ts'
import { Icon } from './icon.tsx'
import type { PartProps } from './part.ts'
import { useStickToBottom } from './stick-to-bottom.ts'

interface Words {
  readonly title: string
  readonly detail: string
}

const EMPTY_WORDS: Readonly<Record<Phase, Words>> = {
  idle: { title: 'Connect, and say hello', detail: 'Your microphone stays off until you do.' },
  connecting: { title: 'One moment', detail: 'Your bot is getting ready.' },
  ready: { title: 'Your bot is listening', detail: 'Say something, or type below.' },
  ended: { title: 'Until next time', detail: 'Nothing was said in this conversation.' },
  failed: { title: 'That did not work', detail: 'The message above says why.' },
}

const NO_TALK: Words = {
  title: 'Your bot answers elsewhere',
  detail: 'This runner was started without a transport for browsers.',
}

/** The conversation in words. */
export function TranscriptView({ model }: PartProps): VNode {
  const { lines } = model.transcript.value
  const list = useStickToBottom<HTMLDivElement>(lines)
  return (
    <div
      class="transcript"
      role="log"
      aria-label="Transcript"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      ref={list}
      data-testid="transcript"
    >
      {lines.length === 0 && (
        <Empty
          {...(model.canTalk.value ? EMPTY_WORDS[model.phase.value] : NO_TALK)}
          phase={model.phase.value}
        />
      )}
      {lines.map((line) => (
        <LineView key={line.id} line={line} />
      ))}
    </div>
  )
}

function LineView({ line }: { readonly line: Line }): VNode {
  return (
    <p class="line" data-who={line.who} data-pending={line.pending}>
      <span class="line-who">
        {line.who === 'user' ? 'You' : 'Bot'}
        {line.typed && <span class="line-typed"> typed</span>}
      </span>
      <span class="line-text">{piecesOf(line)}</span>
    </p>
  )
}

function piecesOf(line: Line): readonly VNode[] {
  let before = ''
  return line.segments.map((segment, index) => {
    const space = glue(before, segment)
    before += space + segment.text
    return <Piece key={index} space={space} segment={segment} />
  })
}

function Piece({ space, segment }: { readonly space: string; readonly segment: Segment }): VNode {
  if (segment.status !== 'saying') {
    return (
      <>
        {space}
        <span data-status={segment.status}>{segment.text}</span>
      </>
    )
  }
  const said = segment.saidLength ?? 0
  return (
    <>
      {space}
      <span data-status="said">{segment.text.slice(0, said)}</span>
      <span data-status="unsaid">{segment.text.slice(said)}</span>
    </>
  )
}

function Empty({ phase, title, detail }: Words & { readonly phase: Phase }): VNode {
  return (
    <div class="empty" data-phase={phase}>
      <span class="empty-mark">
        <Icon name="talk" />
      </span>
      <p class="empty-title">{title}</p>
      <p class="hint">{detail}</p>
    </div>
  )
}
