import { get, type IncomingMessage } from 'node:http'

/** An event as it came over the wire. */
export interface ServerEvent {
  readonly id?: string
  readonly event?: string
  readonly data?: string
  readonly retry?: string
  readonly comment?: string
}

/** A client of an event stream that hides nothing, and whose connection can be cut. */
export class EventSource {
  readonly events: ServerEvent[] = []
  readonly response: IncomingMessage
  #text = ''
  #wake: (() => void) | undefined
  #ended = false

  private constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.#take(text))
    response.on('error', () => {})
    response.on('close', () => {
      this.#ended = true
      this.#wake?.()
    })
  }

  static open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventSource> {
    return new Promise((resolve, reject) => {
      const options = { headers: { accept: 'text/event-stream', ...headers }, agent: false as const }
      get(url, options, (response) => resolve(new EventSource(response))).on('error', reject)
    })
  }

  /** The lines that came, by their numbers. */
  get lines(): readonly { readonly id: number; readonly line: string }[] {
    return this.events
      .filter(({ id, data }) => id !== undefined && data !== undefined)
      .map(({ id, data }) => ({ id: Number(id), line: JSON.parse(data ?? '') as string }))
  }

  /** What the last event said. */
  get end(): unknown {
    const last = this.events.at(-1)
    return last?.event === 'end' ? JSON.parse(last.data ?? '') : undefined
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.#ended) throw new Error('The stream ended.')
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async ended(): Promise<void> {
    await this.until(() => this.#ended)
  }

  cut(): void {
    this.response.destroy()
  }

  #take(text: string): void {
    const blocks = (this.#text + text).split('\n\n')
    this.#text = blocks.pop() ?? ''
    for (const block of blocks) this.events.push(Object.fromEntries(block.split('\n').map(parseField)))
    this.#wake?.()
  }
}

function parseField(line: string): readonly [string, string] {
  const colon = line.indexOf(': ')
  return [colon === 0 ? 'comment' : line.slice(0, colon), line.slice(colon + 2)]
}
