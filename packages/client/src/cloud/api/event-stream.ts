/** One event of a stream. */
export interface StreamEvent {
  /** Empty when the event has none. */
  readonly id: string
  readonly type: string
  readonly data: string
}

/** The type of what has an id and nothing else: it only says where the stream is. */
const PLACE = 'place'
/** Far more than the longest line of a log can take. */
const MAX_PENDING = 4 * 1024 * 1024

/** Puts the text of an event stream together to events, wherever it was cut. */
export class EventStreamParser {
  #rest = ''
  #id = ''
  #type = ''
  #data: string | undefined

  /** The events that are complete with this piece. Comments are none. */
  push(piece: string): readonly StreamEvent[] {
    const text = this.#rest + piece
    const events: StreamEvent[] = []
    let from = 0
    for (;;) {
      const newline = text.indexOf('\n', from)
      if (newline < 0) break
      const end = newline > from && text.charCodeAt(newline - 1) === 13 ? newline - 1 : newline
      if (end === from) this.#dispatch(events)
      else this.#field(text.slice(from, end))
      from = newline + 1
    }
    this.#rest = text.slice(from)
    if (this.#rest.length > MAX_PENDING) throw new Error('An event of the stream is too long.')
    return events
  }

  #dispatch(events: StreamEvent[]): void {
    if (this.#data !== undefined) {
      events.push({ id: this.#id, type: this.#type === '' ? 'message' : this.#type, data: this.#data })
    } else if (this.#id !== '') events.push({ id: this.#id, type: PLACE, data: '' })
    this.#id = ''
    this.#type = ''
    this.#data = undefined
  }

  #field(line: string): void {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1)
    if (name === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    else if (name === 'id') this.#id = value
    else if (name === 'event') this.#type = value
  }
}
