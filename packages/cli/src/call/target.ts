import type { CarrierId } from '@botcli/protocol'
import { limitSignal } from '../limited-signal.ts'

const DEFAULT_URL = 'http://localhost:7860'
const START_LIMIT_MS = 15_000

/** Where a call goes. */
export interface Target {
  /** The WebSocket that a carrier connects to. */
  readonly wsUrl: string
  /** Where a session can be asked for first. */
  readonly startUrl: string
}

/** Where a call goes: to a runner, or to an agent of a cloud, which is asked for an address. */
export type CallPlace =
  | ({ readonly kind: 'runner' } & Target)
  | { readonly kind: 'agent'; readonly agent: string; readonly key: string | undefined }

/** Whom the command line wants to call. */
export interface CallWish {
  readonly agent: string | undefined
  readonly key: string | undefined
  readonly body: Readonly<Record<string, unknown>> | undefined
}

/** The runner gave no address to call. */
export class StartError extends Error {
  override readonly name = 'StartError'
  readonly code = 'start_refused'
}

/** Understands whom to call. */
export function readPlace(
  positionals: readonly string[],
  { agent, key, body }: CallWish,
  problems: string[],
): CallPlace | undefined {
  if (agent === undefined) {
    if (key !== undefined) problems.push('--key is for an agent: give --agent, too.')
    const target = readTarget(positionals, body !== undefined, problems)
    return target && { kind: 'runner', ...target }
  }
  if (positionals.length > 0) problems.push('Give a URL or --agent, not both.')
  return { kind: 'agent', agent, key }
}

/** Understands what was written as URL. */
export function readTarget(
  positionals: readonly string[],
  hasBody: boolean,
  problems: string[],
): Target | undefined {
  const [text = DEFAULT_URL, ...others] = positionals
  if (others.length > 0) problems.push(`Only one URL can be called, not ${positionals.length}.`)
  const full = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(full) ? new URL(full) : undefined
  if (url === undefined || !/^(?:https?|wss?):$/.test(url.protocol) || url.hostname === '') {
    const example = 'http://localhost:7860 or wss://bots.example.com/ws'
    problems.push(`URL must be the address of a runner such as ${example}, not ${JSON.stringify(text)}.`)
    return undefined
  }
  const isSecure = url.protocol === 'https:' || url.protocol === 'wss:'
  // The page is what people have in their address bar.
  if (/^\/client\/?$/.test(url.pathname)) url.pathname = '/'
  const hasPath = url.pathname !== '/'
  if (hasPath && hasBody) {
    problems.push('--body asks the runner itself where to call, so URL must have no path with it.')
  }
  url.hash = ''
  const startUrl = new URL('/start', url)
  startUrl.protocol = isSecure ? 'https:' : 'http:'
  if (!hasPath) url.pathname = '/ws'
  url.protocol = isSecure ? 'wss:' : 'ws:'
  return { wsUrl: url.href, startUrl: startUrl.href }
}

/** The session that is asked for. */
export interface WantedSession {
  readonly transport: CarrierId
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly origin: string | undefined
}

/** Asks the runner for a session with this body, and gives where to call. */
export async function startSession(
  startUrl: string,
  { transport, body, origin }: WantedSession,
  signal: AbortSignal,
): Promise<string> {
  const limited = limitSignal(signal, START_LIMIT_MS)
  let answer: Response
  let text: string
  try {
    answer = await fetch(startUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(origin && { origin }) },
      body: JSON.stringify({ transport, body }),
      signal: limited.signal,
    })
    text = await answer.text()
  } catch (error) {
    throw new StartError(`The runner did not answer POST ${startUrl} (${reasonOf(error)}).`)
  } finally {
    limited.close()
  }
  const wsUrl = textIn(text, 'wsUrl')
  if (answer.ok && wsUrl !== undefined && /^wss?:\/\/[^/]/.test(wsUrl) && URL.canParse(wsUrl)) {
    // The runner may tell its public name, which need not lead anywhere from here.
    const { pathname, search } = new URL(wsUrl)
    return new URL(`${pathname}${search}`, startUrl.replace(/^http/, 'ws')).href
  }
  const why = textIn(text, 'error') ?? answer.statusText
  throw new StartError(`The runner refused POST ${startUrl} (${answer.status}): ${why}`)
}

function textIn(json: string, name: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value !== 'object' || value === null) return undefined
    const found = Object.entries(value).find(([key]) => key === name)?.[1]
    return typeof found === 'string' ? found : undefined
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code
  return cause instanceof Error ? cause.message : String(cause)
}
