import type { Signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { CloudApi } from '../api/cloud-api.ts'
import { hrefOf, type Route } from '../state/route.ts'
import type { Session } from '../state/session.ts'
import { AgentPage } from './agent-page.tsx'
import { AgentsView } from './agents-view.tsx'
import { BuildView } from './build-view.tsx'
import { BuildsView } from './builds-view.tsx'
import { KeysView } from './keys-view.tsx'
import { Empty } from './parts.tsx'
import { SecretSetView } from './secret-set-view.tsx'
import { SecretsView } from './secrets-view.tsx'
import { SessionView } from './session-view.tsx'
import { SettingsView } from './settings-view.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

const TITLES: Readonly<Record<Route['name'], string>> = {
  agents: 'Agents',
  agent: 'Agent',
  'agent-sessions': 'Sessions',
  'agent-log': 'Log',
  session: 'Session',
  builds: 'Builds',
  build: 'Build',
  secrets: 'Secrets',
  'secret-set': 'Secrets',
  keys: 'Keys',
  settings: 'Settings',
  nowhere: 'Nothing here',
}

interface DashboardProps {
  readonly session: Session
  readonly route: Signal<Route>
}

/** The whole page. */
export function Dashboard({ session, route }: DashboardProps): VNode {
  const place = route.value
  const api = session.api.value
  useTitle(place, api !== undefined)
  if (api === undefined) return <SignIn session={session} />
  return (
    <Shell session={session} route={place}>
      <Place api={api} session={session} route={place} />
    </Shell>
  )
}

interface PlaceProps {
  readonly api: CloudApi
  readonly session: Session
  readonly route: Route
}

function Place({ api, session, route }: PlaceProps): VNode {
  switch (route.name) {
    case 'agents':
      return <AgentsView api={api.agents} />
    case 'agent':
    case 'agent-sessions':
    case 'agent-log':
      return <AgentPage api={api.agents} session={session} route={route} />
    case 'session':
      return <SessionView api={api.agents} agent={route.agent} id={route.sessionId} />
    case 'builds':
      return <BuildsView api={api} status={route.status} />
    case 'build':
      return <BuildView api={api} id={route.id} line={route.line} />
    case 'secrets':
      return <SecretsView api={api} />
    case 'secret-set':
      return <SecretSetView api={api} name={route.set} />
    case 'keys':
      return <KeysView api={api} session={session} />
    case 'settings':
      return <SettingsView api={api} />
    case 'nowhere':
      return (
        <Empty title="There is nothing at this address">
          <a href={hrefOf({ name: 'agents' })}>Go to the agents</a>
        </Empty>
      )
  }
}

/** Names the place in the title, and takes the focus there, as a browser does with a new page. */
function useTitle(route: Route, signedIn: boolean): void {
  const first = useRef(true)
  const name = titleOf(route)
  const where = `${route.name} ${name}`
  useEffect(() => {
    document.title = signedIn ? `${name} – Your cloud` : 'Sign in – Your cloud'
    if (!first.current) document.querySelector<HTMLElement>('main h1')?.focus()
    first.current = false
  }, [where, signedIn])
}

function titleOf(route: Route): string {
  const title = TITLES[route.name]
  switch (route.name) {
    case 'build':
      return `${title} ${route.id.slice(0, 8)}`
    case 'agent':
      return route.agent
    case 'agent-sessions':
    case 'agent-log':
      return `${title} of ${route.agent}`
    case 'session':
      return `${title} ${route.sessionId.slice(0, 8)} of ${route.agent}`
    default:
      return title
  }
}
