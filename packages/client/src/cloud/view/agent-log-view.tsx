import type { TargetedEvent, TargetedKeyboardEvent, VNode } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Icon } from '../../view/icon.tsx'
import type { AgentsApi } from '../api/agents-api.ts'
import { AgentLogSource } from '../log/agent-log-source.ts'
import { LogModel } from '../log/log-model.ts'
import { LogSearch } from '../log/log-search.ts'
import type { AgentModel } from '../state/agent-model.ts'
import { LEVELS, type PlaceFilter, SOURCES } from '../state/agent-route.ts'
import { LEVEL_WORDS, SOURCE_WORDS, shortId } from '../state/agent-words.ts'
import { hrefOf } from '../state/route.ts'
import { EntryLog } from './entry-log.tsx'
import { useModel } from './use-model.ts'

const MAX_LINES = 100_000
const ASK_AFTER_MS = 350
const MAX_WORDS = 500

interface AgentLogViewProps {
  readonly api: AgentsApi
  readonly agent: string
  readonly filter: PlaceFilter
  /** Knows the numbers of deployments. */
  readonly model: AgentModel
}

/** The log of an agent: all of it, or what the filter lets through. */
export function AgentLogView({ api, agent, filter, model }: AgentLogViewProps): VNode {
  const place = hrefOf({ name: 'agent-log', agent, filter })
  const log = useModel(() => {
    const made = new LogModel(new AgentLogSource(api, agent, filter), {
      frame: (action) => requestAnimationFrame(action),
      max: MAX_LINES,
    })
    void made.open()
    return made
  }, [api, place])
  const search = useMemo(() => new LogSearch(filter.query ?? ''), [filter.query])
  const isFiltered = Object.keys(filter).length > 0
  return (
    <EntryLog
      log={log}
      agent={agent}
      mixed
      search={search}
      fileName={`${agent}.log`}
      empty={
        isFiltered ? 'Nothing fits these filters yet.' : 'Nothing was logged yet. Lines will appear here.'
      }
      tools={<Filters agent={agent} filter={filter} model={model} />}
    />
  )
}

type FiltersProps = Omit<AgentLogViewProps, 'api'>

function Filters({ agent, filter, model }: FiltersProps): VNode {
  const go = (changes: PlaceFilter): void => {
    // Going back leads to where one came from, not through every filter.
    location.replace(hrefOf({ name: 'agent-log', agent, filter: { ...filter, ...changes } }))
  }
  const onLevel = (event: TargetedEvent<HTMLSelectElement>): void =>
    go({ level: LEVELS.find((level) => level === event.currentTarget.value) })
  const onSource = (event: TargetedEvent<HTMLSelectElement>): void =>
    go({ source: SOURCES.find((source) => source === event.currentTarget.value) })
  return (
    <>
      {filter.deploymentId !== undefined && (
        <Chip
          words={`Deployment ${model.numberOf(filter.deploymentId) ?? shortId(filter.deploymentId)}`}
          onClose={() => go({ deploymentId: undefined })}
        />
      )}
      {filter.instanceId !== undefined && (
        <Chip
          words={`Instance ${shortId(filter.instanceId)}`}
          onClose={() => go({ instanceId: undefined })}
        />
      )}
      <label class="unseen" for="log-level">
        Level
      </label>
      <select id="log-level" value={filter.level ?? ''} onChange={onLevel}>
        <option value="">{LEVEL_WORDS.debug}</option>
        {LEVELS.filter((level) => level !== 'debug').map((level) => (
          <option key={level} value={level}>
            {LEVEL_WORDS[level]}
          </option>
        ))}
      </select>
      <label class="unseen" for="log-source">
        Source
      </label>
      <select id="log-source" value={filter.source ?? ''} onChange={onSource}>
        <option value="">All sources</option>
        {SOURCES.map((source) => (
          <option key={source} value={source}>
            {SOURCE_WORDS[source]}
          </option>
        ))}
      </select>
      <Words words={filter.query ?? ''} onWords={(words) => go({ query: words || undefined })} />
    </>
  )
}

interface ChipProps {
  readonly words: string
  readonly onClose: () => void
}

/** A filter that was set elsewhere, and can be taken away here. */
function Chip({ words, onClose }: ChipProps): VNode {
  return (
    <span class="chip">
      {words}
      <button type="button" class="quiet" aria-label={`Not only ${words}`} onClick={onClose}>
        <Icon name="close" />
      </button>
    </span>
  )
}

interface WordsProps {
  readonly words: string
  readonly onWords: (words: string) => void
}

function Words(props: WordsProps): VNode {
  const input = useRef<HTMLInputElement>(null)
  // Another filter may be chosen while words are still waited for.
  const latest = useRef(props)
  latest.current = props
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const ask = (): void => {
    clearTimeout(timer.current)
    const { words, onWords } = latest.current
    const asked = input.current?.value.trim() ?? ''
    if (asked !== words) onWords(asked)
  }
  const onInput = (): void => {
    clearTimeout(timer.current)
    timer.current = setTimeout(ask, ASK_AFTER_MS)
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    if (event.key === 'Enter') ask()
  }
  return (
    <>
      <label class="unseen" for="log-words">
        Only entries with these words
      </label>
      <input
        id="log-words"
        ref={input}
        type="search"
        class="input"
        placeholder="Only entries with…"
        autocomplete="off"
        spellcheck={false}
        maxLength={MAX_WORDS}
        defaultValue={props.words}
        onInput={onInput}
        onKeyDown={onKeyDown}
      />
    </>
  )
}
