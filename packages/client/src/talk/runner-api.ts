import type { SessionOutcome } from '@botcli/protocol'
import {
  type Ending,
  endingOfOutcome,
  noAnswer,
  type Problem,
  refusedAnswer,
  strangeAnswer,
} from '../state/problem.ts'
import { shapeOf, textAt } from '../state/shape.ts'
import type { Way } from '../state/ways.ts'
import type { BotHost, OfferPlace, StartedSession, StartOptions } from './bot-host.ts'
import type { RunnerFacts } from './runner-facts.ts'

const ANSWER_LIMIT_MS = 15_000
const READY_LIMIT_MS = 30_000

/** The part of the runner's HTTP surface that the page uses. */
export class RunnerApi implements BotHost {
  readonly name = 'The runner'
  readonly output = 'The runner’s output'
  readonly bot = 'your bot'
  readonly readyLimitMs = READY_LIMIT_MS
  readonly knowsCauses = true
  readonly #origin: string
  readonly #fetch: typeof fetch
  readonly #facts: RunnerFacts | undefined

  constructor(origin: string, fetchFunction: typeof fetch, facts?: RunnerFacts) {
    this.#origin = origin
    this.#fetch = fetchFunction
    this.#facts = facts
  }

  /** The other ways to the bot, when the runner itself served this page. */
  get ways(): readonly Way[] {
    return this.#facts?.ways ?? []
  }

  /** The transports that the runner offers. Rejects when it will not serve this page. */
  async transports(): Promise<readonly string[]> {
    if (this.#facts?.originAllowed === false) {
      throw refusedAnswer(403, { code: 'origin_not_allowed' }, this.#origin)
    }
    if (this.#facts !== undefined) return this.#facts.transports
    const transports = shapeOf(await this.#json('/status')).transports
    if (!Array.isArray(transports)) throw strangeAnswer('/status', 'list of transports')
    return transports.filter((name) => typeof name === 'string')
  }

  /** Begins a session. */
  async start(options: StartOptions): Promise<StartedSession> {
    const answer = shapeOf(await this.#json('/start', options))
    const sessionId = textAt(answer, 'sessionId')
    const wsUrl = textAt(answer, 'wsUrl')
    const token = textAt(answer, 'token')
    if (sessionId === undefined) throw strangeAnswer('/start', 'sessionId')
    if (options.transport === 'websocket' && wsUrl === undefined) throw strangeAnswer('/start', 'wsUrl')
    const iceServers = shapeOf(answer.iceConfig).iceServers
    return {
      sessionId,
      ...(wsUrl === undefined ? {} : { wsUrl: this.#socketUrl(wsUrl, sessionId) }),
      ...(token === undefined ? {} : { token }),
      iceServers: Array.isArray(iceServers) ? iceServers : [],
    }
  }

  /** How a session ended, or `undefined` while it has not, or when the runner cannot say. */
  async outcome(sessionId: string): Promise<SessionOutcome | undefined> {
    const view = shapeOf(
      await this.#json(`/sessions/${encodeURIComponent(sessionId)}`).catch(() => undefined),
    )
    const outcome = shapeOf(view.outcome)
    const cause = textAt(outcome, 'cause')
    if (cause === undefined) return undefined
    return {
      result: outcome.result === 'ok' ? 'ok' : 'failed',
      cause: cause as SessionOutcome['cause'],
      message: textAt(outcome, 'message') ?? '',
    }
  }

  async ending(sessionId: string): Promise<Ending | undefined> {
    const outcome = await this.outcome(sessionId)
    return outcome && endingOfOutcome(outcome)
  }

  offerPlace(sessionId: string): OfferPlace {
    const path = `/sessions/${encodeURIComponent(sessionId)}/api/offer`
    return { url: new URL(path, this.#origin).href, headers: {} }
  }

  async refusal(answer: Response): Promise<Problem> {
    const body: unknown = await answer.json().catch(() => undefined)
    return refusedAnswer(answer.status, body, this.#origin).problem
  }

  sessionPage(): undefined {
    return undefined
  }

  #socketUrl(wsUrl: string, sessionId: string): string {
    const url = new URL(wsUrl, this.#origin.replace(/^http/, 'ws'))
    url.searchParams.set('sessionId', sessionId)
    return url.href
  }

  async #json(path: string, body?: unknown): Promise<unknown> {
    const url = new URL(path, this.#origin).href
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS)
    const post = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    }
    let response: Response
    try {
      response = await this.#fetch(url, body === undefined ? { signal } : post)
    } catch (error) {
      throw noAnswer(url, error)
    }
    const answer: unknown = await response.json().catch(() => undefined)
    if (!response.ok) throw refusedAnswer(response.status, answer, this.#origin)
    return answer
  }
}

/**
 * Whether a host is this machine or one next to it. There, peers find each other without the help of a public server,
 * so none is asked.
 */
export function isNearby(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host.endsWith('.local') ||
    host === '[::1]' ||
    /^(?:(?:127|10)\.\d+|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+$/.test(host)
  )
}
