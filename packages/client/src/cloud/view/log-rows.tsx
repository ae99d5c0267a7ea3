import { Fragment, type TargetedKeyboardEvent, type VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../view/icon.tsx'
import type { LogLine } from '../log/log-lines.ts'
import type { LogModel } from '../log/log-model.ts'
import type { LogSearch } from '../log/log-search.ts'
import {
  followsAfter,
  isInSight,
  ROW_HEIGHT,
  rowWindow,
  type Sight,
  scrollTopFor,
} from '../log/log-window.ts'

/** Older lines are asked for when one comes this near to them. */
const NEAR_ROWS = 200
/** More of a line is not drawn in its row; all of it is shown when one points at the line. */
const MAX_DRAWN = 2_000

/** What is drawn of a log, and how. */
export interface LogRowsProps {
  readonly log: LogModel
  /** Draws a row; its line may not be here yet. */
  readonly draw: (number: number, line: LogLine | undefined) => VNode
  /** What stands where no line is. */
  readonly empty: string
  /** Somebody wants to point at a line by the keyboard. */
  readonly onPoint: (number: number) => void
}

/** The lines in sight. Only they are in the document, however long the log is. */
export function LogRows({ log, draw, empty, onPoint }: LogRowsProps): VNode {
  const scroller = useRef<HTMLElement>(null)
  const [sight, setSight] = useState<Sight>({ scrollTop: 0, height: 600 })
  const version = log.version.value
  const rows = log.rows
  useSize(log, scroller, setSight)
  useScrolling(log, scroller, setSight)
  useAnchor(log, scroller, version)
  useReveal(log, scroller)
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    if (event.key !== 'Enter' || event.target !== event.currentTarget) return
    onPoint(log.currentHit.peek() ?? log.topNumber)
  }
  const { start, end } = rowWindow(sight, rows)
  useEffect(() => {
    const { above, count } = log.lines
    // What is drawn may lag behind; what counts is where the list stands now.
    const top = scroller.current === null ? start : Math.floor(scroller.current.scrollTop / ROW_HEIGHT)
    if (log.hasOlder && count > 0 && top < above + NEAR_ROWS) void log.loadOlder(log.numberAt(top))
  }, [log, start, version])
  const isOverHere = isInSight(rows - 1, sight)
  const digits = Math.max(4, String(log.lines.end).length)
  const numbers = Array.from({ length: end - start }, (_, index) => start + index)
  return (
    <div class="log-frame">
      <section
        ref={scroller}
        class="log-scroller"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and only what has the focus scrolls by keys
        tabIndex={0}
        aria-label="Lines of the log"
        aria-keyshortcuts="Enter"
        onKeyDown={onKeyDown}
        data-testid="log"
      >
        <div class="log-height" style={{ height: `${rows * ROW_HEIGHT}px` }}>
          <div
            class="log-window"
            style={{ transform: `translateY(${start * ROW_HEIGHT}px)`, '--digits': digits }}
          >
            {numbers.map((row) => (
              <Fragment key={row}>{draw(log.numberAt(row), log.lineAt(row))}</Fragment>
            ))}
          </div>
        </div>
        {rows === 0 && <p class="loading">{empty}</p>}
      </section>
      {!log.following.value && !(isOverHere && log.connection.value === 'ended') && (
        <button type="button" class="button small follow" data-testid="follow" onClick={() => log.follow()}>
          <Icon name="down" />
          {followWords(log)}
        </button>
      )}
    </div>
  )
}

interface RowTextProps {
  readonly text: string
  readonly search: LogSearch
}

/** The text of a line in its row, with what is looked for set apart. */
export function RowText({ text, search }: RowTextProps): VNode {
  const drawn = text.length > MAX_DRAWN ? text.slice(0, MAX_DRAWN) : text
  const parts = search.parts(drawn)
  return (
    <code class="row-text">
      {parts.map((part, index) => (index % 2 === 1 ? <mark>{part}</mark> : part))}
      {drawn !== text && <span class="row-more"> … {text.length - MAX_DRAWN} more characters</span>}
    </code>
  )
}

function followWords(log: LogModel): string {
  const unseen = log.unseen.value
  if (unseen > 0) return `${unseen.toLocaleString('en')} new ${unseen === 1 ? 'line' : 'lines'}`
  return log.connection.value === 'ended' ? 'To the end' : 'Follow'
}

type Scroller = { readonly current: HTMLElement | null }

/** Measures the list. What was to be seen stays in sight when something beside the list takes room from it. */
function useSize(log: LogModel, scroller: Scroller, setSight: (sight: Sight) => void): void {
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    let height = element.clientHeight
    const measure = (): void => {
      const reveal = log.reveal.peek()
      if (log.following.peek()) element.scrollTop = element.scrollHeight
      else if (reveal !== undefined) {
        const row = log.rowOf(reveal.number)
        const wasInSight = isInSight(row, { scrollTop: element.scrollTop, height })
        if (wasInSight && !isInSight(row, sightOf(element))) {
          element.scrollTop = scrollTopFor(row, element.clientHeight)
        }
      }
      height = element.clientHeight
      setSight(sightOf(element))
    }
    const sizes = new ResizeObserver(measure)
    sizes.observe(element)
    setSight(sightOf(element))
    return () => sizes.disconnect()
  }, [log])
}

function useScrolling(log: LogModel, scroller: Scroller, setSight: (sight: Sight) => void): void {
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    let before = element.scrollTop
    const onScroll = (): void => {
      const sight = sightOf(element)
      log.topNumber = log.numberAt(Math.ceil(sight.scrollTop / ROW_HEIGHT))
      log.scrolled(followsAfter(log.following.peek(), before, sight, element.scrollHeight))
      before = sight.scrollTop
      setSight(sight)
    }
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => element.removeEventListener('scroll', onScroll)
  }, [log])
}

/** Keeps the end in sight while following, and otherwise the line that is on top, whatever comes in front of it. */
function useAnchor(log: LogModel, scroller: Scroller, version: number): void {
  const following = log.following.value
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    if (following) {
      element.scrollTop = element.scrollHeight
      return
    }
    const row = log.rowOf(log.topNumber)
    const was = Math.ceil(element.scrollTop / ROW_HEIGHT)
    if (row !== was && log.lines.count > 0) element.scrollTop += (row - was) * ROW_HEIGHT
  }, [log, version, following])
}

/** Scrolls to a line that somebody wants to see; once more when it has come, because its place was a guess before. */
function useReveal(log: LogModel, scroller: Scroller): void {
  const reveal = log.reveal.value
  const hasLines = log.lines.count > 0
  const isHere = reveal !== undefined && log.lines.has(reveal.number)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null || reveal === undefined || !hasLines) return
    const row = log.rowOf(reveal.number)
    const sight = sightOf(element)
    if (reveal.always) element.scrollIntoView({ block: 'nearest' })
    if (reveal.always || !isInSight(row, sight)) {
      element.scrollTop = scrollTopFor(row, sight.height)
      log.topNumber = log.numberAt(Math.ceil(element.scrollTop / ROW_HEIGHT))
    }
  }, [log, reveal, hasLines, isHere])
}

function sightOf(element: HTMLElement): Sight {
  return { scrollTop: element.scrollTop, height: element.clientHeight }
}
