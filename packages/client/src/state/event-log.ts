/** One line of the events panel. */
export interface EventEntry {
  readonly id: number
  readonly at: number
  /** Who said it: the bot, this page to the bot, or the page itself. */
  readonly from: 'bot' | 'you' | 'page'
  readonly type: string
  readonly detail: string
}

/** How many events the page remembers. */
export const EVENTS_KEPT = 300

const DETAIL_LENGTH = 600
const SECRET_KEY = /token|secret|password|authorization|credential|api_?key/i
const SECRET_IN_TEXT = /\b((?:access_)?token|api_?key|secret|password)=[^&\s"]+/gi
const HIDDEN = '•••'

/** Types that come many times a second and would push everything else out of the log. */
const NOISE: ReadonlySet<string> = new Set(['user-audio-level', 'bot-audio-level'])

/** Whether an event of this type is worth a line. */
export function isWorthLogging(type: string): boolean {
  return !NOISE.has(type)
}

/** Makes one entry; what looks like a secret never gets into it. */
export function eventEntry(
  id: number,
  at: number,
  from: EventEntry['from'],
  type: string,
  data: unknown,
): EventEntry {
  return { id, at, from, type, detail: compact(data) }
}

/** Adds an entry and forgets the oldest beyond the bound. */
export function withEvent(events: readonly EventEntry[], entry: EventEntry): readonly EventEntry[] {
  return [...events, entry].slice(-EVENTS_KEPT)
}

/** The entries whose type or detail holds the words looked for. */
export function eventsMatching(events: readonly EventEntry[], words: string): readonly EventEntry[] {
  const wanted = words.trim().toLowerCase()
  if (wanted === '') return events
  return events.filter((entry) => `${entry.type} ${entry.detail}`.toLowerCase().includes(wanted))
}

function compact(data: unknown): string {
  if (data === undefined || data === null) return ''
  const text = typeof data === 'string' ? hideInText(data) : (JSON.stringify(data, hideSecret) ?? '')
  return text.length > DETAIL_LENGTH ? `${text.slice(0, DETAIL_LENGTH)}…` : text
}

function hideSecret(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return SECRET_KEY.test(key) ? HIDDEN : hideInText(value)
}

function hideInText(text: string): string {
  return text.replace(SECRET_IN_TEXT, `$1=${HIDDEN}`)
}
