import { type DoubleAnswer, HttpDouble, type SeenRequest } from './room-provider-double.ts'

/** What the double knows its customer by. */
export const CARRIER_CREDENTIALS = {
  a: { accountId: 'AC0123456789abcdef0123456789abcdef', authToken: 'secret-token-of-a' },
  b: { apiKey: 'secret-key-of-b' },
  c: { authId: 'MA0123456789ABCDEFGH', authToken: 'secret-token-of-c' },
} as const

const BASIC_A = basic(CARRIER_CREDENTIALS.a.accountId, CARRIER_CREDENTIALS.a.authToken)
const BASIC_C = basic(CARRIER_CREDENTIALS.c.authId, CARRIER_CREDENTIALS.c.authToken)

/** The hang-up calls of all carriers that have one. A call that it does not know is over. */
export class CarrierApiDouble extends HttpDouble {
  readonly live = new Set<string>()
  readonly ended: string[] = []

  /** For `HangUp`. */
  get urls() {
    return { a: `${this.url}/a/2010-04-01`, b: `${this.url}/b/v2`, c: `${this.url}/c/v1` }
  }

  protected refuse({ headers }: SeenRequest): DoubleAnswer {
    return { status: 403, json: { message: `not with ${headers.authorization}` } }
  }

  protected answer(request: SeenRequest): DoubleAnswer {
    const path = decodeURIComponent(request.path)
    if (path.startsWith('/a/')) return this.#answerAsA(request, path)
    if (path.startsWith('/b/')) return this.#answerAsB(request, path)
    if (path.startsWith('/c/')) return this.#answerAsC(request, path)
    return this.complain(404, `${request.method} ${path}`)
  }

  #answerAsA({ method, headers, body }: SeenRequest, path: string): DoubleAnswer {
    if (headers.authorization !== BASIC_A) return this.complain(401, 'a: wrong credentials')
    const account = CARRIER_CREDENTIALS.a.accountId
    const callId = RegExp(`^/a/2010-04-01/Accounts/${account}/Calls/([^/]+)\\.json$`).exec(path)?.[1]
    if (method !== 'POST' || callId === undefined) return this.complain(404, `a: ${method} ${path}`)
    if (headers['content-type'] !== 'application/x-www-form-urlencoded' || body !== 'Status=completed') {
      return this.complain(400, `a: ${headers['content-type']} ${body}`)
    }
    return this.#end(callId)
      ? { status: 200, json: { sid: callId, status: 'completed' } }
      : { status: 404, json: { code: 20404, message: 'The requested resource was not found' } }
  }

  #answerAsB({ method, headers, body }: SeenRequest, path: string): DoubleAnswer {
    if (headers.authorization !== `Bearer ${CARRIER_CREDENTIALS.b.apiKey}`) {
      return this.complain(401, 'b: wrong credentials')
    }
    const callId = /^\/b\/v2\/calls\/([^/]+)\/actions\/hangup$/.exec(path)?.[1]
    if (method !== 'POST' || callId === undefined) return this.complain(404, `b: ${method} ${path}`)
    if (headers['content-type'] !== 'application/json' || body !== '{}') {
      return this.complain(400, `b: ${headers['content-type']} ${body}`)
    }
    return this.#end(callId)
      ? { status: 200, json: { data: { result: 'ok' } } }
      : { status: 422, json: { errors: [{ code: '90018', title: 'Call has already ended' }] } }
  }

  #answerAsC({ method, headers, body }: SeenRequest, path: string): DoubleAnswer {
    if (headers.authorization !== BASIC_C) return this.complain(401, 'c: wrong credentials')
    const account = CARRIER_CREDENTIALS.c.authId
    const callId = RegExp(`^/c/v1/Account/${account}/Call/([^/]+)/$`).exec(path)?.[1]
    if (method !== 'DELETE' || callId === undefined) return this.complain(404, `c: ${method} ${path}`)
    if (body !== '') return this.complain(400, `c: ${body}`)
    return this.#end(callId) ? { status: 204 } : { status: 404, json: { error: 'call not found' } }
  }

  #end(callId: string): boolean {
    if (!this.live.delete(callId)) return false
    this.ended.push(callId)
    return true
  }
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}
