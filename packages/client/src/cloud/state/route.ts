import type { BuildStatus } from '@botcli/protocol/cloud'
import { type AgentPlace, agentHref, agentPlaceOf } from './agent-route.ts'

/** A place in the dashboard. */
export type Route =
  | AgentPlace
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
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  const query = new URLSearchParams(search)
  const [section, ...parts] = path.split('/').map(decoded)
  if (section === '' || section === 'agents') return agentPlaceOf(parts, query) ?? { name: 'nowhere' }
  const [name = '', line, ...more] = parts
  if (more.length > 0) return { name: 'nowhere' }
  if (section === 'builds' && name === '') return { name: 'builds', status: statusOf(query.get('status')) }
  if (section === 'builds') return { name: 'build', id: name, line: lineOf(line) }
  if (line !== undefined) return { name: 'nowhere' }
  if (section === 'secrets') return name === '' ? { name: 'secrets' } : { name: 'secret-set', set: name }
  if (name !== '') return { name: 'nowhere' }
  return section === 'keys' || section === 'settings' ? { name: section } : { name: 'nowhere' }
}

/** The link to a place. */
export function hrefOf(route: Exclude<Route, { name: 'nowhere' }>): string {
  switch (route.name) {
    case 'agents':
    case 'agent':
    case 'agent-sessions':
    case 'agent-log':
    case 'session':
      return agentHref(route)
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
