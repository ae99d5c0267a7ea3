import { signal } from '@preact/signals'
import { render } from 'preact'
import '../style/base.css'
import '../style/controls.css'
import { KeyShelf } from './state/key-shelf.ts'
import { routeOf } from './state/route.ts'
import { Session } from './state/session.ts'
import './style/shell.css'
import './style/parts.css'
import './style/forms.css'
import './style/build.css'
import './style/log.css'
import './style/agent.css'
import { Dashboard } from './view/dashboard.tsx'

const root = document.getElementById('page')
if (root !== null) {
  const shelf = new KeyShelf(sessionStorage, localStorage)
  const session = new Session(location.origin, fetch.bind(globalThis), shelf)
  const route = signal(routeOf(location.hash))
  addEventListener('hashchange', () => {
    route.value = routeOf(location.hash)
  })
  addEventListener('storage', (event) => session.hear(event))
  render(<Dashboard session={session} route={route} />, root)
}
