import { type Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { CloudError, codeOf } from '../errors.ts'
import { returnedHeaders } from './forwarded-headers.ts'

/** How long an instance may keep a caller waiting. */
export interface ExchangeLimits {
  /** For the head of its answer, once it has the request or takes no more of it. */
  readonly answerMs: number
  /** Between two pieces of its answer. */
  readonly silenceMs: number
}

/** What an instance is asked. */
export interface ForwardedRequest {
  readonly socketPath: string
  readonly path: string
  /** Names and values in turn, without the framing of the body. */
  readonly headers: readonly string[]
  readonly agent: Agent
  readonly limits: ExchangeLimits
}

/** What a caller still sends after its answer is read and thrown away up to here, so that the answer is not lost. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024
/** Asking twice does no harm with these. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** What Node reads as the reason of an answer may be more than it writes; and what it has refused once, it remembers. */
const PHRASE = /^[\t\x20-\x7e\x80-\xff]*$/

/** One request of a caller and its answer, both on their way through, piece by piece. */
export class Exchange {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #asked: ForwardedRequest
  readonly #hasBody: boolean
  /** Whether the caller sends its body only when it is told to. */
  readonly #awaitsContinue: boolean
  #upstream: ClientRequest | undefined
  #answer: IncomingMessage | undefined
  #isSending = false
  #settle: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, asked: ForwardedRequest) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#asked = asked
    this.#hasBody = hasBody(incoming)
    this.#awaitsContinue = this.#hasBody && awaitsContinue(incoming)
  }

  /** Resolves when it is over, however it ended. Rejects while nothing was answered. */
  run(): Promise<void> {
    // A caller may have left while its key was judged.
    if (this.#outgoing.destroyed) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      // A caller that breaks off is told by the close of its answer.
      this.#incoming.on('error', () => {})
      this.#outgoing.on('error', () => {})
      this.#outgoing.on('timeout', () => this.#onCallerIdle())
      this.#outgoing.once('close', () => this.#end())
      this.#ask(this.#asked.agent)
    })
  }

  #ask(agent: Agent | false): void {
    const { socketPath, path, limits } = this.#asked
    const { method = 'GET' } = this.#incoming
    let upstream: ClientRequest
    try {
      const timeout = limits.answerMs
      upstream = request({ socketPath, path, method, headers: this.#headers(), agent, timeout })
    } catch (error) {
      this.#fail(new CloudError('INVALID_REQUEST', 'A header of the request is not valid.', { cause: error }))
      return
    }
    this.#upstream = upstream
    upstream.on('response', (answer) => this.#onAnswer(answer))
    upstream.on('timeout', () => this.#onInstanceIdle())
    upstream.on('error', (error) => this.#onInstanceError(upstream, error))
    upstream.once('close', () => {
      // Without an error, as after an upgrade that nobody has asked for.
      if (upstream === this.#upstream) this.#onInstanceError(upstream, new Error('There was no answer.'))
    })
    if (!this.#hasBody) upstream.end()
    else if (!this.#awaitsContinue) this.#sendBody(upstream)
    else {
      // The body is asked for when the instance wants it, and not before.
      upstream.once('continue', () => {
        this.#outgoing.writeContinue()
        this.#sendBody(upstream)
      })
    }
  }

  #headers(): readonly string[] {
    const { method = 'GET', headers } = this.#incoming
    const all = [...this.#asked.headers]
    const length = headers['content-length'] ?? (REPEATABLE.has(method) ? undefined : '0')
    if (headers['transfer-encoding'] !== undefined) all.push('Transfer-Encoding', 'chunked')
    else if (length !== undefined) all.push('Content-Length', length)
    if (this.#awaitsContinue) all.push('Expect', '100-continue')
    return all
  }

  #sendBody(upstream: ClientRequest): void {
    this.#isSending = true
    this.#incoming.pipe(upstream)
    setImmediate(() => {
      // The first piece may be long in coming, and the instance may answer without it.
      if (!upstream.writableEnded && !upstream.destroyed) upstream.flushHeaders()
    })
  }

  #onAnswer(answer: IncomingMessage): void {
    const outgoing = this.#outgoing
    const { statusCode = 502, statusMessage = '' } = answer
    this.#answer = answer
    try {
      const headers = returnedHeaders(answer)
      // A body that was never asked for may come or not, so nobody can tell what the next bytes are.
      if (this.#awaitsContinue && !this.#isSending) headers.push('Connection', 'close')
      outgoing.writeHead(statusCode, PHRASE.test(statusMessage) ? statusMessage : '', headers)
    } catch (error) {
      this.#fail(failed('gave an answer that is not HTTP', error))
      return
    }
    answer.once('error', () => outgoing.destroy())
    answer.once('close', () => {
      if (!answer.complete) outgoing.destroy()
    })
    outgoing.once('finish', () => this.#end())
    answer.pipe(outgoing)
    setImmediate(() => {
      if (answer.complete || outgoing.destroyed) return
      // A stream may begin with silence; its head is not kept back for that.
      if (!outgoing.writableEnded) outgoing.flushHeaders()
      this.#upstream?.setTimeout(this.#asked.limits.silenceMs)
    })
  }

  /** Neither sent nor took the caller anything for long. That is its fault only if it was its turn. */
  #onCallerIdle(): void {
    const isToTake = this.#outgoing.writableNeedDrain || this.#outgoing.writableEnded
    if (isToTake || this.#isCallerToSend()) this.#outgoing.destroy()
  }

  #onInstanceIdle(): void {
    const waitsForCaller = this.#answer ? this.#outgoing.writableNeedDrain : this.#isCallerToSend()
    if (waitsForCaller) return
    this.#fail(failed(`did not answer within ${this.#asked.limits.answerMs / 1000} s`))
  }

  #isCallerToSend(): boolean {
    return this.#isSending && !this.#incoming.complete && this.#upstream?.writableNeedDrain === false
  }

  #onInstanceError(upstream: ClientRequest, error: Error): void {
    // An answer that has begun breaks off by itself.
    if (this.#settle === undefined || this.#answer !== undefined) return
    const isStale = upstream.reusedSocket && (codeOf(error) === 'ECONNRESET' || codeOf(error) === 'EPIPE')
    // It has closed a connection that idled just when it was used again.
    if (isStale && !this.#hasBody && REPEATABLE.has(this.#incoming.method ?? '')) this.#ask(false)
    else this.#fail(failed('could not be reached, or ended while it was asked', error))
  }

  #fail(error: CloudError): void {
    const settle = this.#settle
    this.#settle = undefined
    if (this.#outgoing.headersSent) this.#outgoing.destroy()
    this.#upstream?.destroy()
    settle?.reject(error)
  }

  /** The caller has its answer, or has left. */
  #end(): void {
    const settle = this.#settle
    this.#settle = undefined
    if (settle === undefined) return
    // A connection on which nothing is left to be sent or read serves the next request.
    const isWhole = this.#upstream?.writableFinished === true && this.#answer?.complete === true
    if (!isWhole) this.#upstream?.destroy()
    if (!this.#incoming.complete) discardRest(this.#incoming)
    settle.resolve()
  }
}

/** Whether a request has a body, however short it may turn out to be. */
function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** Whether a caller sends its body only when it is told to. */
export function awaitsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.1' && /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect ?? '')
}

/** Reads and throws away what is left of a request, whoever was reading it. */
export function discardRest(incoming: IncomingMessage): void {
  let size = 0
  incoming.unpipe()
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > MAX_DISCARDED_BYTES) incoming.destroy()
  })
  incoming.resume()
}

function failed(what: string, cause?: unknown): CloudError {
  const message = `The instance that runs this session ${what}. If the session is over, start another one.`
  return new CloudError('DEPLOY-SESSION-FAILED', message, { cause })
}
