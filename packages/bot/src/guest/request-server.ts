import {
  type BotRequest,
  type BotResponse,
  botResponseSchema,
  type GuestMessage,
  MAX_BOT_BODY_BYTES,
  MAX_BOT_HEADER_CHARS,
  MAX_BOT_HEADERS,
} from '@botcli/protocol'
import { BotError } from '../errors.ts'
import type { RequestHandler } from '../session-port.ts'
import { linkError, shown } from './link-error.ts'

/** What a request's address begins with, for want of a real one. */
const ORIGIN = 'http://session'
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Lets the bot's handler answer the requests to its session. */
export class RequestServer {
  readonly #send: (message: GuestMessage) => void
  #handler: RequestHandler | undefined

  constructor(send: (message: GuestMessage) => void) {
    this.#send = send
  }

  serve(handler: RequestHandler): void {
    if (this.#handler !== undefined) {
      throw new BotError('already_serving', 'serve() was called twice; a session has one handler of requests')
    }
    this.#handler = handler
    this.#send({ type: 'serving' })
    void warmUpRequests()
  }

  /** A request that fails is the bot's fault, but no reason to end its call. None comes before there is a handler. */
  async answer(id: number, request: BotRequest): Promise<void> {
    try {
      const response = await this.#handler?.(requestOf(request))
      this.#send({ type: 'response', id, response: await packed(response) })
    } catch (error) {
      process.stderr.write(`${request.method} ${request.path} failed: ${shown(error)}\n`)
      this.#send({ type: 'response', id, error: linkError(error) })
    }
  }
}

let warm: Promise<void> | undefined

/**
 * Does once what every request needs: an engine loads that part of itself when it is first used, and a call would stand still meanwhile.
 * Costs nothing when it was done before.
 */
export function warmUpRequests(): Promise<void> {
  // Whatever is wrong here is told to whoever sends a request.
  warm ??= tryRequest().catch(() => {})
  return warm
}

async function tryRequest(): Promise<void> {
  const headers = [['content-type', 'application/json']] as const
  const request = requestOf({ method: 'POST', path: '/', query: '', headers: [...headers], body: 'e30=' })
  await packed(Response.json(await request.json()))
}

function requestOf({ method, path, query, headers, body }: BotRequest): Request {
  const sent = BODILESS.has(method) || body === '' ? {} : { body: Buffer.from(body, 'base64') }
  // A path that begins with two slashes would be taken for a host, were it not behind the origin.
  return new Request(`${ORIGIN}${path}${query}`, {
    method,
    headers: headers.map(([...pair]) => pair),
    ...sent,
  })
}

async function packed(response: unknown): Promise<BotResponse> {
  // Not by `instanceof`: frameworks may bring a class of their own.
  if (typeof response !== 'object' || response === null || !('arrayBuffer' in response)) {
    throw new BotError(
      'invalid_response',
      `a handler of requests must give a Response, not ${shown(response)}`,
    )
  }
  const { status, headers, body } = response as Response
  const bytes = await bodyOf(body)
  const parsed = botResponseSchema.safeParse({
    status,
    headers: [...headers],
    body: bytes.toString('base64'),
  })
  if (parsed.success) return parsed.data
  throw new BotError(
    'invalid_response',
    `an answer has a status from 200 to 599, and at most ${MAX_BOT_HEADERS} headers of ${MAX_BOT_HEADER_CHARS} characters in all; this one has the status ${status}`,
  )
}

/** Reads no further than it may be sent. */
async function bodyOf(body: Response['body']): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_BOT_BODY_BYTES) {
      throw new BotError('invalid_response', `the body of an answer has at most ${MAX_BOT_BODY_BYTES} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
