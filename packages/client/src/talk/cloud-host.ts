import type { Ending, Problem } from '../state/problem.ts'
import { shapeOf, textAt } from '../state/shape.ts'
import type { BotHost, OfferPlace, StartedSession, StartOptions } from './bot-host.ts'
import { cloudRefusal, cloudSilence, cloudStrangeAnswer } from './cloud-problem.ts'

/** An instance may have to be started first, and a bot may take long to load. */
const START_LIMIT_MS = 100_000
const READY_LIMIT_MS = 120_000
const ANSWER_LIMIT_MS = 15_000

const OVER: Ending = {
  failed: false,
  problem: { tone: 'info', title: 'The conversation is over.', detail: '' },
}

/** What the page has to know to reach an agent. */
export interface CloudHostOptions {
  readonly origin: string
  readonly fetch: typeof fetch
  readonly agent: string
  /** A public key. */
  readonly key: string
  /** The cloud does not take the key. */
  readonly refused: (words: string) => void
}

/** A bot that is deployed in the cloud that served this page, by its public API. */
export class CloudHost implements BotHost {
  readonly name = 'The cloud'
  readonly output = 'The log of the agent'
  readonly bot: string
  readonly readyLimitMs = READY_LIMIT_MS
  /** A public key opens no records. */
  readonly knowsCauses = false
  readonly ways = []
  readonly #options: CloudHostOptions

  constructor(options: CloudHostOptions) {
    this.bot = options.agent
    this.#options = options
  }

  async transports(): Promise<readonly string[]> {
    return ['webrtc', 'websocket']
  }

  async start(options: StartOptions): Promise<StartedSession> {
    const response = await this.#send(`/v1/public/${this.#agent}/start`, START_LIMIT_MS, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(options),
    })
    if (!response.ok) throw await this.#refusal(response)
    const answer = shapeOf(await response.json().catch(() => undefined))
    const sessionId = textAt(answer, 'sessionId')
    const wsUrl = textAt(answer, 'wsUrl')
    if (sessionId === undefined) throw cloudStrangeAnswer('sessionId')
    if (options.transport === 'websocket' && wsUrl === undefined) throw cloudStrangeAnswer('wsUrl')
    const iceServers = shapeOf(answer.iceConfig).iceServers
    return {
      sessionId,
      ...(wsUrl !== undefined && { wsUrl: this.#socketUrl(wsUrl) }),
      iceServers: Array.isArray(iceServers) ? iceServers : [],
    }
  }

  offerPlace(sessionId: string): OfferPlace {
    const url = new URL(this.#offerPath(sessionId), this.#options.origin).href
    return { url, headers: { authorization: `Bearer ${this.#options.key}` } }
  }

  async refusal(answer: Response): Promise<Problem> {
    return (await this.#refusal(answer)).problem
  }

  /** Requests for a session that is over are refused; one that runs knows this address, but not with GET. */
  async ending(sessionId: string): Promise<Ending | undefined> {
    const path = this.#offerPath(sessionId)
    const response = await this.#send(path, ANSWER_LIMIT_MS, { method: 'GET' }).catch(() => undefined)
    return response?.status === 404 ? OVER : undefined
  }

  sessionPage(sessionId: string): string {
    return `/#/agents/${this.#agent}/sessions/${encodeURIComponent(sessionId)}`
  }

  get #agent(): string {
    return encodeURIComponent(this.#options.agent)
  }

  #offerPath(sessionId: string): string {
    return `/v1/public/${this.#agent}/sessions/${encodeURIComponent(sessionId)}/api/offer`
  }

  /** The cloud names its public address. The page came from it by an address that works here, so that one is taken. */
  #socketUrl(wsUrl: string): string {
    const { origin } = this.#options
    const { pathname, search } = new URL(wsUrl, origin)
    return new URL(`${pathname}${search}`, origin.replace(/^http/, 'ws')).href
  }

  async #refusal(response: Response): Promise<Error & { readonly problem: Problem }> {
    const error = await cloudRefusal(response, this.#options.agent)
    if (response.status === 401 || response.status === 403) this.#options.refused(error.problem.title)
    return error
  }

  async #send(path: string, limitMs: number, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, authorization: `Bearer ${this.#options.key}` }
    const signal = AbortSignal.timeout(limitMs)
    try {
      return await this.#options.fetch(new URL(path, this.#options.origin), { ...init, headers, signal })
    } catch (error) {
      throw cloudSilence(error)
    }
  }
}
