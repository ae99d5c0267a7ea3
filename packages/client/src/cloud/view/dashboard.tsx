import type { Signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { CloudApi } from '../api/cloud-api.ts'
import { hrefOf, type Route } from '../state/route.ts'
import type { Session } from '../state/session.ts'
import { BuildView } from './build-view.tsx'
import { BuildsView } from './builds-view.tsx'
import { KeysView } from './keys-view.tsx'
import { Empty } from './parts.tsx'
import { SecretSetView } from './secret-set-view.tsx'
import { SecretsView } from './secrets-view.tsx'
import { SettingsView } from './settings-view.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

const TITLES: Readonly<Record<Route['name'], string>> = {
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
          <a href={hrefOf({ name: 'builds', status: undefined })}>Go to the builds</a>
        </Empty>
      )
  }
}

/** Names the place in the title, and takes the focus there, as a browser does with a new page. */
function useTitle(route: Route, signedIn: boolean): void {
  const first = useRef(true)
  const where = `${route.name} ${route.name === 'build' ? route.id : ''}`
  useEffect(() => {
    const name = route.name === 'build' ? `Build ${route.id.slice(0, 8)}` : TITLES[route.name]
    document.title = signedIn ? `${name} – Your cloud` : 'Sign in – Your cloud'
    if (!first.current) document.querySelector<HTMLElement>('main h1')?.focus()
    first.current = false
  }, [where, signedIn])
}
