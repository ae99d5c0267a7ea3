import type { VNode } from 'preact'
import type { EventEntry } from '../state/event-log.ts'
import type { PartProps } from './part.ts'
import { useStickToBottom } from './stick-to-bottom.ts'

const FROM_WORDS: Readonly<Record<EventEntry['from'], string>> = {
  bot: 'From the bot',
  you: 'To the bot',
  page: 'This page',
}

/** Everything that went over the wire besides sound, for the people who build the bot. */
export function EventsPanel({ model }: PartProps): VNode {
  const shown = model.shownEvents.value
  const list = useStickToBottom<HTMLOListElement>(shown)
  const total = model.events.value.length
  return (
    <section class="card events" aria-labelledby="events-title">
      <h2 id="events-title">
        Events
        <small>{shown.length === total ? total : `${shown.length} of ${total}`}</small>
      </h2>
      <div class="events-tools">
        <label class="unseen" for="events-filter">
          Filter events
        </label>
        <input
          id="events-filter"
          data-testid="events-filter"
          type="search"
          placeholder="Filter"
          value={model.eventWords.value}
          onInput={(event) => model.filterEvents(event.currentTarget.value)}
        />
        <button type="button" class="button small" onClick={() => model.clearEvents()} disabled={total === 0}>
          Clear
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <ol class="events-list" ref={list} tabIndex={0} aria-label="Events" data-testid="events">
        {shown.map((entry) => (
          <EventRow key={entry.id} entry={entry} />
        ))}
      </ol>
    </section>
  )
}

function EventRow({ entry }: { readonly entry: EventEntry }): VNode {
  return (
    <li data-from={entry.from}>
      <details>
        <summary>
          <span class="event-from" title={FROM_WORDS[entry.from]}>
            <span class="unseen">{FROM_WORDS[entry.from]}</span>
          </span>
          <time>{clockTime(entry.at)}</time>
          <span class="event-type">{entry.type}</span>
          <span class="event-detail">{entry.detail}</span>
        </summary>
      </details>
    </li>
  )
}

function clockTime(at: number): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const thousandths = String(date.getMilliseconds()).padStart(3, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${thousandths}`
}
