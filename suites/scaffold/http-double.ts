import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that came in. */
export interface Seen {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: unknown
}

/** Answers requests by a function, and remembers them. */
export class HttpDouble {
  readonly seen: Seen[] = []
  readonly #server: Server

  private constructor(answer: (seen: Seen, response: ServerResponse) => void) {
    this.#server = createServer((request, response) => {
      read(request).then(
        (seen) => {
          this.seen.push(seen)
          answer(seen, response)
        },
        (error: unknown) => response.writeHead(500).end(String(error)),
      )
    })
  }

  static async start(answer: (seen: Seen, response: ServerResponse) => void): Promise<HttpDouble> {
    const double = new HttpDouble(answer)
    await new Promise<void>((resolve) => double.#server.listen(0, '127.0.0.1', resolve))
    return double
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** What a language model may say. */
interface Said {
  readonly content?: string
  readonly tool_calls?: readonly object[]
}

/** Answers as a language model does that streams. Other requests get nothing. */
export function asModel(think: (asked: Asked) => Said): (seen: Seen, response: ServerResponse) => void {
  return ({ path, body }, response) => {
    if (path !== '/chat/completions') {
      response.writeHead(404).end()
      return
    }
    const said = think(body as Asked)
    const chunk = (delta: object, reason: string | null) => {
      const choices = [{ index: 0, delta, finish_reason: reason }]
      const data = { id: 'chat', object: 'chat.completion.chunk', created: 1, model: 'double', choices }
      response.write(`data: ${JSON.stringify(data)}\n\n`)
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    chunk({ role: 'assistant', ...said }, null)
    chunk({}, said.tool_calls === undefined ? 'stop' : 'tool_calls')
    response.end('data: [DONE]\n\n')
  }
}

/** What a language model is asked. */
export interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools?: unknown
}

/** A language model that says what it is told. */
export const echo = asModel(({ messages }) => {
  const asked = messages.findLast(({ role }) => role === 'user')
  return { content: asked === undefined ? 'Hello.' : `You said: ${JSON.stringify(asked.content)}` }
})

async function read(request: IncomingMessage): Promise<Seen> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  return { path: request.url ?? '', authorization: request.headers.authorization, body: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
