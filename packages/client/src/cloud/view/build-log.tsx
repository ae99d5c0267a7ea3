import type { TargetedKeyboardEvent, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { CopyButton } from '../../view/copy-button.tsx'
import { Icon } from '../../view/icon.tsx'
import type { LogLine } from '../log/log-lines.ts'
import type { BuildModel } from '../state/build-model.ts'
import { hrefOf } from '../state/route.ts'
import { countWords, isOver } from '../state/words.ts'
import { LogCard } from './log-card.tsx'
import { RowText } from './log-rows.tsx'

const LOOK_AFTER_MS = 120

interface BuildLogProps {
  readonly model: BuildModel
}

/** The log of a build: lines with numbers, to search in and to point at. */
export function BuildLog({ model }: BuildLogProps): VNode {
  const { log, id } = model
  log.version.value
  return (
    <LogCard
      log={log}
      count={countWords(log.end.value?.lines ?? log.lines.end, 'line')}
      fileName={`build-${id}.log`}
      tools={<Search model={model} />}
      empty={emptyWords(model)}
      draw={(number, line) => <Row model={model} number={number} line={line} />}
      onPoint={(number) => {
        location.hash = hrefOf({ name: 'build', id, line: number + 1 })
      }}
    >
      <SelectedLine model={model} />
    </LogCard>
  )
}

interface RowProps extends BuildLogProps {
  readonly number: number
  readonly line: LogLine | undefined
}

function Row({ model, number, line }: RowProps): VNode {
  const { log } = model
  return (
    <div
      class="row"
      data-line={number + 1}
      data-selected={log.selected.value === number}
      data-failing={model.failingLine.value === number}
      data-current={log.currentHit.value === number}
    >
      <a
        class="row-number"
        href={hrefOf({ name: 'build', id: model.id, line: number + 1 })}
        tabIndex={-1}
        aria-label={`Line ${number + 1}`}
      >
        {number + 1}
      </a>
      <RowText text={line?.text ?? ''} search={log.search.value} />
    </div>
  )
}

function emptyWords({ build, log }: BuildModel): string {
  const record = build.value
  if (log.connection.value === 'refused') return 'The log cannot be read.'
  if (record === undefined || log.connection.value === 'opening') return 'Loading the log…'
  if (record.status === 'pending') return 'The build waits for its turn. Lines will appear here.'
  return isOver(record.status) ? 'This build has no log.' : 'Waiting for the first line…'
}

function Search({ model: { log } }: BuildLogProps): VNode {
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isFind = (event.ctrlKey || event.metaKey) && event.key === 'f'
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      // The browser would find only the few lines that are drawn. Pressed twice, its own search comes.
      if (document.activeElement === input.current || !(isFind || (event.key === '/' && !isTyping))) return
      event.preventDefault()
      input.current?.focus()
      input.current?.select()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const look = (): void => {
    clearTimeout(timer.current)
    log.look(input.current?.value ?? '', log.currentHit.peek() ?? log.topNumber)
  }
  const onInput = (): void => {
    clearTimeout(timer.current)
    timer.current = setTimeout(look, LOOK_AFTER_MS)
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    if (event.key === 'Escape') {
      event.currentTarget.value = ''
      look()
    }
    if (event.key !== 'Enter') return
    event.preventDefault()
    if (log.search.peek().words === event.currentTarget.value.trim()) log.step(event.shiftKey ? -1 : 1)
    else look()
  }
  const count = log.hitCount.value
  const { words } = log.search.value
  return (
    <search class="log-search">
      <label class="unseen" for="log-search">
        Search the log
      </label>
      <input
        id="log-search"
        ref={input}
        type="search"
        class="input"
        placeholder="Search the log"
        autocomplete="off"
        spellcheck={false}
        aria-keyshortcuts="/"
        onInput={onInput}
        onKeyDown={onKeyDown}
      />
      {words !== '' && (
        <span class="hint log-hits" role="status" data-testid="hits">
          {count === 0
            ? 'None'
            : `${(log.hit.value + 1).toLocaleString('en')} of ${count.toLocaleString('en')}`}
          {log.loadingOlder.value && '…'}
        </span>
      )}
      <button
        type="button"
        class="quiet"
        aria-label="Previous hit"
        disabled={count === 0}
        onClick={() => log.step(-1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="quiet"
        aria-label="Next hit"
        disabled={count === 0}
        onClick={() => log.step(1)}
      >
        <Icon name="down" />
      </button>
    </search>
  )
}

/** The line that the address points at, whole, with its link. */
function SelectedLine({ model: { log, id } }: BuildLogProps): VNode | null {
  const number = log.selected.value
  log.version.value
  if (number === undefined || !log.lines.has(number)) return null
  const line = log.lines.at(log.lines.indexOf(number))
  if (line === undefined) return null
  const href = hrefOf({ name: 'build', id, line: number + 1 })
  return (
    <div class="log-selected" data-testid="selected-line">
      <a href={href}>Line {number + 1}</a>
      <code>{line.text}</code>
      <div class="log-selected-tools">
        <CopyButton
          text={new URL(href, location.href).href}
          label={`Copy the link to line ${number + 1}`}
          icon="link"
        />
        <CopyButton text={line.text} label={`Copy line ${number + 1}`} />
        <a
          class="quiet"
          href={hrefOf({ name: 'build', id, line: undefined })}
          aria-label="Close"
          title="Close"
        >
          <Icon name="close" />
        </a>
      </div>
    </div>
  )
}
