import type { AgentLogLevel, LogSource } from '@botcli/protocol/cloud'
import type { LogFilter } from '../api/agents-api.ts'

/** Which sessions of an agent are looked at. */
export type SessionStatus = 'active' | 'ended'

/** A place that belongs to an agent, or to all of them. */
export type AgentPlace =
  | { readonly name: 'agents' }
  | { readonly name: 'agent'; readonly agent: string }
  | { readonly name: 'agent-sessions'; readonly agent: string; readonly status: SessionStatus | undefined }
  | { readonly name: 'agent-log'; readonly agent: string; readonly filter: PlaceFilter }
  | { readonly name: 'session'; readonly agent: string; readonly sessionId: string }

/** What of an agent's log is looked at; a session has a place of its own. */
export type PlaceFilter = Omit<LogFilter, 'sessionId'>

/** The levels that one can ask for, the least grave first. */
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly AgentLogLevel[]
/** Where entries come from, in the order in which that happens. */
export const SOURCES = ['build', 'start', 'run'] as const satisfies readonly LogSource[]

/** The place that the parts of an address after `agents` lead to, if there is one. */
export function agentPlaceOf(parts: readonly string[], query: URLSearchParams): AgentPlace | undefined {
  const [agent = '', tab, sessionId, ...more] = parts
  if (more.length > 0) return undefined
  if (agent === '') return tab === undefined ? { name: 'agents' } : undefined
  if (tab === undefined || (tab === '' && sessionId === undefined)) return { name: 'agent', agent }
  if (tab === 'log' && sessionId === undefined) return { name: 'agent-log', agent, filter: filterOf(query) }
  if (tab !== 'sessions') return undefined
  if (sessionId) return { name: 'session', agent, sessionId }
  const status = ['active', 'ended'] as const
  return { name: 'agent-sessions', agent, status: status.find((known) => known === query.get('status')) }
}

/** The link to such a place. */
export function agentHref(place: AgentPlace): string {
  if (place.name === 'agents') return '#/agents'
  const agent = `#/agents/${encodeURIComponent(place.agent)}`
  switch (place.name) {
    case 'agent':
      return agent
    case 'agent-sessions':
      return `${agent}/sessions${place.status === undefined ? '' : `?status=${place.status}`}`
    case 'session':
      return `${agent}/sessions/${encodeURIComponent(place.sessionId)}`
    case 'agent-log': {
      const { level, source, query, deploymentId, instanceId } = place.filter
      const given = Object.entries({ level, source, query, deployment: deploymentId, instance: instanceId })
      const search = new URLSearchParams(given.flatMap(([name, value]) => (value ? [[name, value]] : [])))
      return `${agent}/log${search.size === 0 ? '' : `?${search}`}`
    }
  }
}

function filterOf(query: URLSearchParams): PlaceFilter {
  const level = LEVELS.find((known) => known === query.get('level'))
  const source = SOURCES.find((known) => known === query.get('source'))
  const words = query.get('query')?.trim()
  const deploymentId = query.get('deployment')
  const instanceId = query.get('instance')
  return {
    ...(level !== undefined && { level }),
    ...(source !== undefined && { source }),
    ...(words && { query: words }),
    ...(deploymentId && { deploymentId }),
    ...(instanceId && { instanceId }),
  }
}
