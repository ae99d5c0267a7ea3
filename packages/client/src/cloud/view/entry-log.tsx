import type { AgentLogEntry } from '@botcli/protocol/cloud'
import type { ComponentChildren, VNode } from 'preact'
import { CopyButton } from '../../view/copy-button.tsx'
import { Icon } from '../../view/icon.tsx'
import type { LogLine } from '../log/log-lines.ts'
import type { LogModel } from '../log/log-model.ts'
import type { LogSearch } from '../log/log-search.ts'
import { clockWords, SOURCE_WORDS, shortId } from '../state/agent-words.ts'
import { hrefOf } from '../state/route.ts'
import { countWords } from '../state/words.ts'
import { LogCard } from './log-card.tsx'
import { RowText } from './log-rows.tsx'

interface EntryLogProps {
  readonly log: LogModel
  readonly agent: string
  /** Whether entries of many sessions are among each other, so that each has to say whose it is. */
  readonly mixed: boolean
  readonly search: LogSearch
  readonly fileName: string
  readonly empty: string
  readonly tools?: ComponentChildren
}

/** A log of entries with times, of an agent or of one session. */
export function EntryLog({ log, agent, mixed, search, fileName, empty, tools }: EntryLogProps): VNode {
  log.version.value
  return (
    <LogCard
      log={log}
      count={`${countWords(log.lines.count, 'line')}${log.hasOlder ? ' and older ones' : ''}`}
      fileName={fileName}
      tools={<div class="log-choice">{tools}</div>}
      empty={emptyWords(log, empty)}
      draw={(number, line) => (
        <Row log={log} agent={agent} mixed={mixed} search={search} number={number} line={line} />
      )}
      onPoint={(number) => log.select(number)}
    >
      <SelectedEntry log={log} agent={agent} />
    </LogCard>
  )
}

interface RowProps extends Pick<EntryLogProps, 'log' | 'agent' | 'mixed' | 'search'> {
  readonly number: number
  readonly line: LogLine | undefined
}

function Row({ log, agent, mixed, search, number, line }: RowProps): VNode {
  const part = line?.part
  const selected = entryAt(log, log.selected.value)
  return (
    <div
      class="row entry"
      data-testid="entry"
      data-level={part?.entry.level ?? undefined}
      data-selected={part !== undefined && part.entry === selected}
    >
      <button
        type="button"
        class="row-time"
        tabIndex={-1}
        aria-hidden={!part?.first}
        title={part && new Date(part.entry.timestamp).toLocaleString()}
        onClick={() => log.select(number)}
      >
        {part?.first && clockWords(part.entry.timestamp, Date.now())}
      </button>
      {mixed && <span class="row-whose">{part?.first && <Whose agent={agent} entry={part.entry} />}</span>}
      <RowText text={line?.text ?? ''} search={search} />
    </div>
  )
}

interface WhoseProps {
  readonly agent: string
  readonly entry: AgentLogEntry
}

/** The session of an entry, or else where it comes from. */
function Whose({ agent, entry: { sessionId, source } }: WhoseProps): VNode {
  if (sessionId === null) return <span>{source === 'run' ? '' : source}</span>
  return (
    <a
      href={hrefOf({ name: 'session', agent, sessionId })}
      tabIndex={-1}
      aria-label={`Session ${shortId(sessionId)}`}
    >
      {shortId(sessionId)}
    </a>
  )
}

/** The entry that somebody points at, whole, with all that is known of it. */
function SelectedEntry({ log, agent }: Pick<EntryLogProps, 'log' | 'agent'>): VNode | null {
  log.version.value
  const entry = entryAt(log, log.selected.value)
  if (entry === undefined) return null
  const { timestamp, level, source, sessionId, instanceId } = entry
  return (
    <div class="log-selected entry-selected" data-testid="selected-entry">
      <p class="hint">
        <time dateTime={timestamp}>{new Date(timestamp).toLocaleString()}</time>
        <span>
          {SOURCE_WORDS[source]}
          {level !== null && `, ${level}`}
        </span>
        {sessionId !== null && (
          <a href={hrefOf({ name: 'session', agent, sessionId })}>Session {shortId(sessionId)}</a>
        )}
        {instanceId !== null && (
          <a href={hrefOf({ name: 'agent-log', agent, filter: { instanceId } })}>
            Instance {shortId(instanceId)}
          </a>
        )}
      </p>
      <code>{entry.log}</code>
      <div class="log-selected-tools">
        <CopyButton text={entry.log} label="Copy the entry" />
        <button
          type="button"
          class="quiet"
          aria-label="Close the entry"
          onClick={() => log.select(undefined)}
        >
          <Icon name="close" />
        </button>
      </div>
    </div>
  )
}

function entryAt(log: LogModel, number: number | undefined): AgentLogEntry | undefined {
  if (number === undefined || !log.lines.has(number)) return undefined
  return log.lines.at(log.lines.indexOf(number))?.part?.entry
}

function emptyWords(log: LogModel, empty: string): string {
  switch (log.connection.value) {
    case 'opening':
      return 'Loading the log…'
    case 'refused':
      return 'The log cannot be read.'
    default:
      return empty
  }
}
