import { RemoteError } from './remote-error.ts'

/** One event. What has an id and nothing else only says where the stream is: that is one of type `place`. */
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
  #isPlace = false
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
    else if (field === 'id' && !value.includes('\0')) {
      this.#id = value
      this.#isPlace = true
    }
    return undefined
  }

  #dispatch(): StreamEvent | undefined {
    const isEmpty = this.#data.length === 0
    const type = isEmpty ? 'place' : this.#type || 'message'
    const event = { id: this.#id, type, data: this.#data.join('\n') }
    const isPlace = this.#isPlace
    this.#type = ''
    this.#data = []
    this.#isPlace = false
    return isEmpty && !isPlace ? undefined : event
  }
}
