import type { TargetedKeyboardEvent, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { CopyButton } from '../../view/copy-button.tsx'
import { Icon } from '../../view/icon.tsx'
import { messageOf } from '../api/api-error.ts'
import type { Connection } from '../log/log-model.ts'
import type { BuildModel } from '../state/build-model.ts'
import { hrefOf } from '../state/route.ts'
import { countWords } from '../state/words.ts'
import { LogRows } from './log-rows.tsx'
import { Trouble } from './parts.tsx'
import { saveFile } from './save-file.ts'

const LOOK_AFTER_MS = 120

const CONNECTION_WORDS: Readonly<Record<Connection, string>> = {
  opening: 'Opening…',
  live: 'Live',
  lost: 'Connection lost, trying again…',
  ended: 'Complete',
  refused: 'Not readable',
}

interface LogCardProps {
  readonly model: BuildModel
}

/** The log of a build with its tools. */
export function LogCard({ model }: LogCardProps): VNode {
  const { log } = model
  const connection = log.connection.value
  log.version.value
  return (
    <section class="card log" aria-label="Log">
      <div class="log-tools">
        <h2>Log</h2>
        <span class="state" role="status" data-testid="connection" data-state={connection}>
          {CONNECTION_WORDS[connection]}
        </span>
        <span class="hint log-count" data-testid="line-count">
          {countWords(log.end.value?.lines ?? log.lines.end, 'line')}
        </span>
        <Search model={model} />
        <Download model={model} />
      </div>
      <Trouble text={log.problem.value} />
      {log.lines.beyond > 0 && (
        <p class="hint log-beyond">
          The first {countWords(log.lines.beyond, 'line')} can only be read in the download.
        </p>
      )}
      <LogRows model={model} />
      <SelectedLine model={model} />
    </section>
  )
}

function Search({ model: { log } }: LogCardProps): VNode {
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

function Download({ model: { log, id } }: LogCardProps): VNode {
  const [busy, setBusy] = useState(false)
  const download = async (): Promise<void> => {
    setBusy(true)
    try {
      saveFile(await log.text(), `build-${id}.log`)
    } catch (error) {
      log.problem.value = `The log was not downloaded. ${messageOf(error)}`
    } finally {
      setBusy(false)
    }
  }
  return (
    <button
      type="button"
      class="button small"
      aria-label="Download the log"
      title="Download the log"
      data-testid="download"
      disabled={busy}
      onClick={() => void download()}
    >
      <Icon name="download" />
      <span>{busy ? 'Downloading…' : 'Download'}</span>
    </button>
  )
}

/** The line that the address points at, whole, with its link. */
function SelectedLine({ model: { log, id } }: LogCardProps): VNode | null {
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
