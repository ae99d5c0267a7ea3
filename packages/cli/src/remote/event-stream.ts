import { RemoteError } from './remote-error.ts'

/** One event. */
export interface StreamEvent {
  /** The newest id up to here. */
  readonly id: string | undefined
  readonly type: string
  readonly data: string
}

/** More than the longest line of a log can be, whatever it holds. */
const MAX_LINE = 1024 * 1024

/** Makes events out of the text of an event stream, in whatever pieces it comes. */
export class EventStreamParser {
  #rest = ''
  #id: string | undefined
  #type = ''
  #data: string[] = []
  #afterReturn = false

  /** Takes the next piece and gives the events that end in it. */
  push(piece: string): readonly StreamEvent[] {
    const text = this.#afterReturn && piece.startsWith('\n') ? piece.slice(1) : piece
    if (piece !== '') this.#afterReturn = piece.endsWith('\r')
    const lines = (this.#rest + text).split(/\r\n|\n|\r/)
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > MAX_LINE)
      throw RemoteError.local('ANSWER_INVALID', 'The cloud sent a line without an end.')
    return lines.flatMap((line) => this.#line(line) ?? [])
  }

  #line(line: string): StreamEvent | undefined {
    if (line === '') return this.#dispatch()
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'data') this.#data.push(value)
    else if (field === 'event') this.#type = value
    else if (field === 'id' && !value.includes('\0')) this.#id = value
    return undefined
  }

  #dispatch(): StreamEvent | undefined {
    const event = { id: this.#id, type: this.#type || 'message', data: this.#data.join('\n') }
    const isEmpty = this.#data.length === 0
    this.#type = ''
    this.#data = []
    return isEmpty ? undefined : event
  }
}
