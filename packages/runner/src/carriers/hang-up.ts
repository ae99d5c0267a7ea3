import { TRANSPORTS, type TransportId } from '@botcli/protocol'
import type { CarrierUrls, TelephonyConfig } from '../config.ts'
import type { Logger } from '../log/logger.ts'
import {
  type Fetch,
  type ProviderAnswer,
  ProviderApi,
  type ProviderRequest,
} from '../providers/provider-api.ts'

/** What came of it. */
export type HangUpResult = 'hung_up' | 'already_over' | 'not_possible' | 'failed'

const CARRIER_URLS: CarrierUrls = {
  a: 'https://api.twilio.com/2010-04-01',
  b: 'https://api.telnyx.com/v2',
  c: 'https://api.plivo.com/v1',
}

/** Ids come from the wire and go into a path, so nothing that could leave its place in it is let through. */
const CALL_ID = /^[\w:=+~-]{1,300}$/
const LIMIT_MS = 4000
/** Calls that are remembered, so that nobody hangs up twice. */
const MAX_REMEMBERED = 1000

/** What hanging up needs. */
export interface HangUpOptions {
  readonly telephony: TelephonyConfig
  readonly logger: Logger
  readonly fetch?: Fetch | undefined
  /** Default: short enough to be over when the runner has to stop. */
  readonly limitMs?: number | undefined
}

/** How one carrier hangs up. */
interface Line {
  readonly api: ProviderApi
  readonly request: (callId: string) => ProviderRequest
  readonly isOver: (answer: ProviderAnswer) => boolean
}

/** Hangs up calls through the carriers' REST APIs: each call once, and never with an exception. */
export class HangUp {
  readonly #logger: Logger
  readonly #lines: ReadonlyMap<TransportId, Line>
  readonly #asked = new Map<string, Promise<HangUpResult>>()
  /** How many streams each call has. */
  readonly #streams = new Map<string, number>()

  constructor(options: HangUpOptions) {
    this.#logger = options.logger
    this.#lines = linesOf(options)
  }

  /** A stream of a call has begun. Gives what to do at its end: the last one of a call hangs it up. */
  follow(transport: TransportId, callId: string, logger: Logger): () => Promise<unknown> {
    const key = `${transport} ${callId}`
    this.#streams.set(key, (this.#streams.get(key) ?? 0) + 1)
    return async () => {
      const left = (this.#streams.get(key) ?? 1) - 1
      if (left > 0) {
        this.#streams.set(key, left)
        logger.info('the call goes on in another stream and is not hung up')
        return
      }
      this.#streams.delete(key)
      await this.hangUp(transport, callId, logger)
    }
  }

  /** Whoever asks again for the same call gets the first result. */
  hangUp(transport: TransportId, callId: string, logger = this.#logger): Promise<HangUpResult> {
    const line = this.#lines.get(transport)
    const { label } = TRANSPORTS[transport]
    if (line === undefined) return Promise.resolve('not_possible')
    if (!CALL_ID.test(callId)) {
      logger.warn(`the call was not hung up: its id cannot be one of ${label}`)
      return Promise.resolve('not_possible')
    }
    const key = `${transport} ${callId}`
    const earlier = this.#asked.get(key)
    if (earlier !== undefined) return earlier
    const result = this.#ask(line, label, callId, logger)
    this.#asked.set(key, result)
    const oldest = this.#asked.keys().next().value
    if (this.#asked.size > MAX_REMEMBERED && oldest !== undefined) this.#asked.delete(oldest)
    return result
  }

  async #ask(line: Line, label: string, callId: string, logger: Logger): Promise<HangUpResult> {
    try {
      const answer = await line.api.send(line.request(encodeURIComponent(callId)))
      if (answer.status >= 200 && answer.status <= 299) {
        logger.info(`hung up through ${label}`)
        return 'hung_up'
      }
      if (!line.isOver(answer)) throw line.api.refusal('hang up', answer)
      logger.debug('the call was over already')
      return 'already_over'
    } catch (error) {
      logger.error(`the call was not hung up: ${error instanceof Error ? error.message : String(error)}`)
      return 'failed'
    }
  }
}

function linesOf({ telephony, fetch, limitMs = LIMIT_MS }: HangUpOptions): ReadonlyMap<TransportId, Line> {
  const { a, b, c, apiUrls } = telephony
  const at = { ...CARRIER_URLS, ...apiUrls }
  const common = { fetch, limitMs }
  const lines = new Map<TransportId, Line>()
  if (a !== undefined) {
    const credentials = basic(a.accountId, a.authToken)
    const api = {
      baseUrl: at.a,
      authorization: `Basic ${credentials}`,
      secrets: [a.authToken, credentials],
      credential: 'TELEPHONY_A_ACCOUNT_ID and TELEPHONY_A_AUTH_TOKEN',
    }
    const account = encodeURIComponent(a.accountId)
    lines.set('telephony_a', {
      api: new ProviderApi({ label: TRANSPORTS.telephony_a.label, ...api, ...common }),
      request: (callId) => ({
        method: 'POST',
        path: `/Accounts/${account}/Calls/${callId}.json`,
        form: { Status: 'completed' },
      }),
      isOver: ({ status }) => status === 404,
    })
  }
  if (b !== undefined) {
    const api = {
      baseUrl: at.b,
      authorization: `Bearer ${b.apiKey}`,
      secrets: [b.apiKey],
      credential: 'TELEPHONY_B_API_KEY',
    }
    lines.set('telephony_b', {
      api: new ProviderApi({ label: TRANSPORTS.telephony_b.label, ...api, ...common }),
      request: (callId) => ({ method: 'POST', path: `/calls/${callId}/actions/hangup`, json: {} }),
      isOver: ({ status, json }) => status === 422 && /"code":"?90018"?[,}]/.test(JSON.stringify(json) ?? ''),
    })
  }
  if (c !== undefined) {
    const credentials = basic(c.authId, c.authToken)
    const api = {
      baseUrl: at.c,
      authorization: `Basic ${credentials}`,
      secrets: [c.authToken, credentials],
      credential: 'TELEPHONY_C_AUTH_ID and TELEPHONY_C_AUTH_TOKEN',
    }
    const account = encodeURIComponent(c.authId)
    lines.set('telephony_c', {
      api: new ProviderApi({ label: TRANSPORTS.telephony_c.label, ...api, ...common }),
      request: (callId) => ({ method: 'DELETE', path: `/Account/${account}/Call/${callId}/` }),
      isOver: ({ status }) => status === 404,
    })
  }
  return lines
}

function basic(user: string, password: string): string {
  return Buffer.from(`${user}:${password}`).toString('base64')
}
