import { RequestError } from '../request-error.ts'

/** What of a request decides whether its origin may speak to us. */
export interface OriginFacts {
  readonly method: string
  readonly path: string
  readonly origin: string | undefined
  readonly fetchMode: string | undefined
  readonly fetchSite: string | undefined
}

/** Which pages may speak to the runner. */
export class OriginPolicy {
  readonly #allowed: ReadonlySet<string>
  readonly #needed: boolean

  /** Where somebody else lets in only those who prove themselves, an origin is not `needed`; a wrong one is refused there, too. */
  constructor(allowed: readonly string[], { needed = true } = {}) {
    this.#allowed = new Set(allowed)
    this.#needed = needed
  }

  /** Without a list everyone may. */
  get open(): boolean {
    return this.#allowed.size === 0
  }

  allows(origin: string | undefined): boolean {
    return this.open || (origin === undefined ? !this.#needed : this.#allowed.has(origin))
  }

  /** Throws before anything happens for an origin that is not allowed. */
  check(facts: OriginFacts): void {
    if (!isPageLoad(facts)) this.checkOrigin(facts.origin)
  }

  /** Throws for an origin that is not allowed, whatever it asks for. */
  checkOrigin(origin: string | undefined): void {
    const refusal = this.refusalOf(origin)
    if (refusal !== undefined) throw new RequestError('origin_not_allowed', refusal)
  }

  /** Why an origin is not allowed, if it is not. */
  refusalOf(origin: string | undefined): string | undefined {
    if (this.allows(origin)) return undefined
    const what =
      origin === undefined
        ? 'This request has no Origin header, and this runner only serves a list of origins.'
        : `The origin ${JSON.stringify(origin.slice(0, 200))} is not among the allowed origins.`
    return `${what} See --allowed-origins.`
  }

  /** The headers with which a browser lets the page see our answer. */
  headers(origin: string | undefined): Readonly<Record<string, string>> {
    if (this.open) return { 'Access-Control-Allow-Origin': '*' }
    if (origin === undefined || !this.#allowed.has(origin)) return { Vary: 'Origin' }
    return { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' }
  }
}

/** A browser opens the built-in page without a listed origin; only that page's own files and its link to a room are meant. */
function isPageLoad({ method, path, fetchMode, fetchSite }: OriginFacts): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  // A room costs money, so another site cannot send anybody there.
  if (path === '/daily')
    return fetchMode === 'navigate' && (fetchSite === 'none' || fetchSite === 'same-origin')
  if (path !== '/' && path !== '/client' && !path.startsWith('/client/')) return false
  return fetchMode === 'navigate' || fetchSite === 'same-origin'
}
