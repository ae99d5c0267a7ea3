import type { BuildStatus } from '@botcli/protocol/cloud'

/** A place in the dashboard. */
export type Route =
  | { readonly name: 'builds'; readonly status: BuildStatus | undefined }
  | { readonly name: 'build'; readonly id: string; readonly line: number | undefined }
  | { readonly name: 'secrets' }
  | { readonly name: 'secret-set'; readonly set: string }
  | { readonly name: 'keys' }
  | { readonly name: 'settings' }
  | { readonly name: 'nowhere' }

const STATUSES: Readonly<Record<BuildStatus, true>> = {
  pending: true,
  building: true,
  success: true,
  failed: true,
  timeout: true,
}

/** Where the part of the address after `#` leads. The server knows one address, so places are told apart there. */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  const [section, name = '', line, ...more] = path.split('/').map(decoded)
  if (more.length > 0) return { name: 'nowhere' }
  if (section === '' || (section === 'builds' && name === '')) {
    return { name: 'builds', status: statusOf(new URLSearchParams(query).get('status')) }
  }
  if (section === 'builds') return { name: 'build', id: name, line: lineOf(line) }
  if (line !== undefined) return { name: 'nowhere' }
  if (section === 'secrets') return name === '' ? { name: 'secrets' } : { name: 'secret-set', set: name }
  if (name !== '') return { name: 'nowhere' }
  return section === 'keys' || section === 'settings' ? { name: section } : { name: 'nowhere' }
}

/** The link to a place. */
export function hrefOf(route: Exclude<Route, { name: 'nowhere' }>): string {
  switch (route.name) {
    case 'builds':
      return route.status === undefined ? '#/builds' : `#/builds?status=${route.status}`
    case 'build':
      return `#/builds/${encodeURIComponent(route.id)}${route.line === undefined ? '' : `/L${route.line}`}`
    case 'secret-set':
      return `#/secrets/${encodeURIComponent(route.set)}`
    default:
      return `#/${route.name}`
  }
}

function statusOf(text: string | null): BuildStatus | undefined {
  return text !== null && Object.hasOwn(STATUSES, text) ? (text as BuildStatus) : undefined
}

/** Lines are counted from 1 in addresses and on the page. */
function lineOf(text: string | undefined): number | undefined {
  const digits = /^L([1-9]\d{0,14})$/.exec(text ?? '')?.[1]
  return digits === undefined ? undefined : Number(digits)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
