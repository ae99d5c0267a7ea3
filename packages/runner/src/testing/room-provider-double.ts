import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

/** How a double behaves: as it should, or as providers do on bad days. */
export type Mood = 'well' | 'refusing' | 'silent' | 'broken' | 'garbled' | 'endless' | 'elsewhere'

/** A request as it arrived. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What a double answers. */
export interface DoubleAnswer {
  readonly status: number
  readonly json?: unknown
}

/** A real HTTP server that stands for a provider, and keeps every request. */
export abstract class HttpDouble {
  readonly seen: SeenRequest[] = []
  /** What the real provider would not have taken. */
  readonly complaints: string[] = []
  mood: Mood = 'well'
  /** Called when a request has arrived, before it is answered. */
  onRequest: () => void = () => {}
  readonly #server: Server

  constructor() {
    this.#server = createServer((incoming, outgoing) => {
      void this.#receive(incoming).then((seen) => {
        this.seen.push(seen)
        this.onRequest()
        const send = ({ status, json }: DoubleAnswer) => {
          outgoing.writeHead(status, { 'Content-Type': 'application/json' })
          outgoing.end(json === undefined ? '' : JSON.stringify(json))
        }
        if (this.mood === 'well') send(this.answer(seen))
        else if (this.mood === 'refusing') send(this.refuse(seen))
        else if (this.mood === 'broken') outgoing.destroy()
        else if (this.mood === 'garbled') outgoing.end('<html>Welcome</html>')
        else if (this.mood === 'endless') outgoing.end(`"${'x'.repeat(1024 * 1024)}"`)
        else if (this.mood === 'elsewhere') outgoing.writeHead(302, { Location: `${this.url}/stolen` }).end()
      })
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  close(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  protected abstract answer(request: SeenRequest): DoubleAnswer
  protected abstract refuse(request: SeenRequest): DoubleAnswer

  protected complain(status: number, what: string, json?: unknown): DoubleAnswer {
    this.complaints.push(what)
    return { status, json }
  }

  async #receive(incoming: IncomingMessage): Promise<SeenRequest> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
    const { method = '', url = '', headers } = incoming
    return { method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') }
  }
}

const exp = z.number().int()
const roomSchema = z.strictObject({
  name: z.string().regex(/^[\w-]{1,41}$/),
  privacy: z.enum(['public', 'private']),
  properties: z.looseObject({
    exp,
    eject_at_room_exp: z.boolean(),
    enable_chat: z.boolean(),
    enable_prejoin_ui: z.boolean(),
    enable_emoji_reactions: z.boolean(),
    start_video_off: z.boolean(),
    start_audio_off: z.boolean().optional(),
    sip: z
      .strictObject({
        display_name: z.string(),
        video: z.boolean(),
        sip_mode: z.literal('dial-in'),
        num_endpoints: z.number().int().min(1),
      })
      .optional(),
  }),
})
const tokenSchema = z.strictObject({
  properties: z.looseObject({
    room_name: z.string(),
    exp,
    is_owner: z.boolean(),
    user_name: z.string().optional(),
  }),
})

/** The room provider's REST API as far as a runner uses it. */
export class RoomProviderDouble extends HttpDouble {
  readonly rooms = new Map<string, z.infer<typeof roomSchema>>()
  readonly tokens = new Map<string, z.infer<typeof tokenSchema>['properties']>()
  readonly #apiKey: string
  readonly #sip: boolean

  constructor(apiKey: string, { sip = true } = {}) {
    super()
    this.#apiKey = apiKey
    this.#sip = sip
  }

  get apiUrl(): string {
    return `${this.url}/v1`
  }

  /** Rooms that were made elsewhere. */
  addRoom(name: string): void {
    this.rooms.set(name, {
      name,
      privacy: 'public',
      properties: {
        exp: 0,
        eject_at_room_exp: false,
        enable_chat: true,
        enable_prejoin_ui: true,
        enable_emoji_reactions: true,
        start_video_off: false,
      },
    })
  }

  protected refuse(): DoubleAnswer {
    const info = `the key ${this.#apiKey} may not do this.`
    return { status: 403, json: { error: 'authorization-error', info } }
  }

  protected answer({ method, path, headers, body }: SeenRequest): DoubleAnswer {
    if (headers.authorization !== `Bearer ${this.#apiKey}`) {
      return this.#invalid(401, 'authentication-error', 'the key is wrong')
    }
    if (headers['content-type'] !== 'application/json') return this.#invalid(400, 'bad-request', 'not JSON')
    const json: unknown = JSON.parse(body)
    if (method === 'POST' && path === '/v1/rooms') return this.#makeRoom(json)
    if (method === 'POST' && path === '/v1/meeting-tokens') return this.#makeToken(json)
    return this.#invalid(404, 'not-found', `${method} ${path}`)
  }

  #makeRoom(json: unknown): DoubleAnswer {
    const { data, error } = roomSchema.safeParse(json)
    if (!data) return this.#invalid(400, 'invalid-request-error', z.prettifyError(error))
    if (this.rooms.has(data.name)) return this.#invalid(400, 'invalid-request-error', 'the name is taken')
    this.rooms.set(data.name, data)
    const { sip, ...config } = data.properties
    const sipUri = sip && this.#sip ? { sip_uri: { endpoint: `${data.name}@sip.rooms.example` } } : {}
    const url = `https://rooms.example/${data.name}`
    return { status: 200, json: { id: 'r1', ...data, url, config: { ...config, ...sipUri } } }
  }

  #makeToken(json: unknown): DoubleAnswer {
    const { data, error } = tokenSchema.safeParse(json)
    if (!data) return this.#invalid(400, 'invalid-request-error', z.prettifyError(error))
    const { room_name: name } = data.properties
    if (!this.rooms.has(name)) return this.#invalid(404, 'not-found', `no room ${name}`)
    const token = `token-${this.tokens.size + 1}`
    this.tokens.set(token, data.properties)
    return { status: 200, json: { token } }
  }

  #invalid(status: number, error: string, info: string): DoubleAnswer {
    return this.complain(status, info, { error, info })
  }
}
