import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toneOf } from '@botcli/media/phone'

/** The rate of the sound that the real service makes. */
const SPEECH_RATE = 24_000

/** What the bot says, and how that sounds: each sentence has a tone of its own. */
export const SENTENCES = {
  'Hello.': { hertz: 500, ms: 800 },
  'Once upon a time.': { hertz: 700, ms: 3000 },
  'Then it went on.': { hertz: 900, ms: 3000 },
  'The end came late.': { hertz: 1100, ms: 3000 },
  'All right.': { hertz: 1300, ms: 800 },
} as const

type Sentence = keyof typeof SENTENCES

const STORY: readonly Sentence[] = ['Once upon a time.', 'Then it went on.', 'The end came late.']

interface ChatMessage {
  readonly role: string
  readonly content: unknown
}

/** Stands where the services for hearing, thinking and speaking are: the same requests, answers by a script. */
export class OpenaiDouble {
  /** Milliseconds of sound in each request to be transcribed. */
  readonly transcribed: number[] = []
  readonly #server: Server
  #words = ''

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
    })
  }

  static async start(): Promise<OpenaiDouble> {
    const double = new OpenaiDouble()
    await new Promise<void>((resolve) => double.#server.listen(0, '127.0.0.1', resolve))
    return double
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  /** From now on, this is what the caller says. */
  hear(words: string): void {
    this.#words = words
    this.transcribed.length = 0
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bytesOf(request)
    if (request.url === '/v1/audio/transcriptions') this.#transcribe(body, response)
    else if (request.url === '/v1/chat/completions') think(body, response)
    else if (request.url === '/v1/audio/speech') speak(body, response)
    else response.writeHead(404).end()
  }

  #transcribe(form: Buffer, response: ServerResponse): void {
    const wav = form.indexOf('RIFF')
    if (wav < 0) {
      response.writeHead(400).end('no sound')
      return
    }
    const bytesPerSecond = form.readUInt32LE(wav + 28)
    this.transcribed.push(Math.round((1000 * form.readUInt32LE(wav + 40)) / bytesPerSecond))
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ text: this.#words }))
  }
}

function think(body: Buffer, response: ServerResponse): void {
  const { messages } = JSON.parse(body.toString()) as { messages: readonly ChatMessage[] }
  const asked = messages.findLast(({ role }) => role === 'user')
  const isStory = JSON.stringify(asked?.content ?? '').includes('story')
  const sentences = asked === undefined ? ['Hello.'] : isStory ? STORY : ['All right.']
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  const chunk = (delta: object, reason: string | null) => {
    const choices = [{ index: 0, delta, finish_reason: reason }]
    const data = { id: 'chat', object: 'chat.completion.chunk', created: 1, model: 'double', choices }
    response.write(`data: ${JSON.stringify(data)}\n\n`)
  }
  for (const word of sentences.join(' ').split(/(?<= )/)) chunk({ role: 'assistant', content: word }, null)
  chunk({}, 'stop')
  response.end('data: [DONE]\n\n')
}

function speak(body: Buffer, response: ServerResponse): void {
  const { input } = JSON.parse(body.toString()) as { input: string }
  const sounds = Object.entries(SENTENCES)
    .filter(([sentence]) => input.includes(sentence))
    .map(([, { hertz, ms }]) => Buffer.from(toneOf(hertz, ms, SPEECH_RATE).buffer))
  response.writeHead(200, { 'Content-Type': 'audio/pcm' }).end(Buffer.concat(sounds))
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
