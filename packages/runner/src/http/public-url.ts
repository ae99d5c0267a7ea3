/** What of a request tells how its client reached us. */
export interface ReachedBy {
  readonly header: (name: string) => string | undefined
  /** Where we really listen, for a client that says nothing useful. */
  readonly fallbackHost: string
  /** The public host name that the user gave. */
  readonly proxy: string | undefined
}

const HOST = /^(?:[a-z0-9_](?:[a-z0-9_.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i
const PREFIX = /^\/[\w\-./~]{0,200}$/

/** The WebSocket address of a path, as the client of this request can reach it. */
export function websocketUrl(path: string, reachedBy: ReachedBy): string {
  if (reachedBy.proxy !== undefined) return `wss://${reachedBy.proxy}${path}`
  const { secure, host } = publicHost(reachedBy)
  const prefix = first(reachedBy.header('x-forwarded-prefix')) ?? ''
  return `${secure ? 'wss' : 'ws'}://${host}${PREFIX.test(prefix) ? prefix.replace(/\/+$/, '') : ''}${path}`
}

/** The origin of a page that was loaded by this request. The proxy is no part of it: the page may be opened without. */
export function publicOrigin(reachedBy: ReachedBy): string | undefined {
  const { secure, host } = publicHost(reachedBy)
  const url = `${secure ? 'https' : 'http'}://${host}`
  return URL.canParse(url) ? new URL(url).origin : undefined
}

function publicHost({ header, fallbackHost }: ReachedBy): {
  readonly secure: boolean
  readonly host: string
} {
  const forwarded = forwardedHeader(header('forwarded'))
  const proto = (forwarded.proto ?? first(header('x-forwarded-proto')))?.toLowerCase()
  const hosts = [forwarded.host, first(header('x-forwarded-host')), header('host')]
  const host = hosts.find((candidate) => candidate !== undefined && HOST.test(candidate)) ?? fallbackHost
  return { secure: proto === 'https' || proto === 'wss', host }
}

/** The first entry is the one that the client's own proxy wrote. */
function first(value: string | undefined): string | undefined {
  return value?.split(',')[0]?.trim() || undefined
}

function forwardedHeader(value: string | undefined): { readonly proto?: string; readonly host?: string } {
  const pairs = (first(value) ?? '').split(';').flatMap((pair) => {
    const [name, text] = pair.split('=', 2)
    return name && text ? [[name.trim().toLowerCase(), text.trim().replace(/^"|"$/g, '')] as const] : []
  })
  const found = new Map(pairs)
  const proto = found.get('proto')
  const host = found.get('host')
  return { ...(proto && { proto }), ...(host && { host }) }
}
