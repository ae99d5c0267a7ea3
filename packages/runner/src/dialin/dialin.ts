import { createHmac } from 'node:crypto'
import {
  DEFAULT_ROOM_API_URL,
  type DialinBody,
  type DialinCall,
  type DialinResponse,
  dialinCallSchema,
  dialinTestSchema,
} from '@botcli/protocol'
import type { RoomConfig } from '../config.ts'
import { parseJson } from '../http/json-body.ts'
import type { Logger } from '../log/logger.ts'
import { CLOCK_TOLERANCE_MS, isSame, notVerified, type WebhookRequest } from '../providers/webhook-request.ts'
import type { OpenSipRoom, Rooms } from '../rooms/rooms.ts'

/** Where the room provider tells of callers. */
export const DIALIN_PATH = '/daily-dialin-webhook'

/** Times above this are milliseconds: the provider's documentation has seconds, its calls have either. */
const MILLISECONDS_FROM = 100_000_000_000

/** Callers that are remembered, so that a repeated webhook call makes no second bot. */
const MAX_REMEMBERED = 1000

/** What dial-in needs. */
export interface DialinOptions {
  readonly rooms: Rooms
  readonly room: RoomConfig
  readonly logger: Logger
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined
}

/** What a bot needs for a caller who waits. */
export interface PreparedDialin {
  readonly room: OpenSipRoom
  readonly body: DialinBody
}

/** `POST /daily-dialin-webhook`: callers whom the room provider holds until a bot is there. */
export class Dialin {
  readonly #options: DialinOptions
  readonly #clock: () => number
  /** By caller, the oldest first. */
  readonly #answers = new Map<string, Promise<DialinResponse>>()

  constructor(options: DialinOptions) {
    this.#options = options
    this.#clock = options.clock ?? Date.now
  }

  /** Checks a webhook call. Gives nothing for the provider's test, which wants an answer and no bot. */
  receive(request: Pick<WebhookRequest, 'header' | 'body'>): DialinCall | undefined {
    // The test comes before the provider has told anybody the secret, and there is nothing to gain from it.
    if (isTest(request.body)) return undefined
    this.#check(request)
    return parseJson(request.body, DIALIN_PATH, dialinCallSchema, this.#options.logger)
  }

  /** Serves a caller once: who is told of the same caller again gets the first answer, unless it was a failure. */
  once(call: DialinCall, serve: () => Promise<DialinResponse>): Promise<DialinResponse> {
    const key = JSON.stringify([call.callDomain, call.callId])
    const earlier = this.#answers.get(key)
    if (earlier !== undefined) return earlier
    const answer = serve()
    this.#answers.set(key, answer)
    answer.catch(() => this.#answers.delete(key))
    const oldest = this.#answers.keys().next().value
    if (this.#answers.size > MAX_REMEMBERED && oldest !== undefined) this.#answers.delete(oldest)
    return answer
  }

  /** Makes the room, and the body with which the bot can fetch its caller. */
  async prepare(call: DialinCall): Promise<PreparedDialin> {
    const { rooms, room: config } = this.#options
    const room = await rooms.openForCall(call.From)
    const body: DialinBody = {
      dialin_settings: {
        call_id: call.callId,
        call_domain: call.callDomain,
        From: call.From,
        To: call.To,
        ...(call.sipHeaders && { sip_headers: call.sipHeaders }),
      },
      room_api_key: config.apiKey ?? '',
      room_api_url: config.apiUrl ?? DEFAULT_ROOM_API_URL,
    }
    return { room, body }
  }

  #check({ header, body }: Pick<WebhookRequest, 'header' | 'body'>): void {
    const { dialinSecret: secret } = this.#options.room
    if (secret === undefined) return
    const time = header('x-pinless-timestamp') ?? ''
    const expected = createHmac('sha256', Buffer.from(secret, 'base64'))
      .update(`${time}.`)
      .update(body)
      .digest('base64')
    if (this.#isRecent(time) && isSame(header('x-pinless-signature') ?? '', expected)) return
    throw notVerified(
      'The signature does not show that this comes from the room provider. Compare ROOM_DIALIN_SECRET.',
    )
  }

  #isRecent(time: string): boolean {
    if (!/^\d{1,15}$/.test(time)) return false
    const sent = Number(time) >= MILLISECONDS_FROM ? Number(time) : Number(time) * 1000
    return Math.abs(sent - this.#clock()) <= CLOCK_TOLERANCE_MS
  }
}

function isTest(body: Buffer): boolean {
  try {
    return dialinTestSchema.safeParse(JSON.parse(body.toString('utf8'))).success
  } catch {
    return false
  }
}
