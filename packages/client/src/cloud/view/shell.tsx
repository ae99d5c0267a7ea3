import type { ComponentChildren, VNode } from 'preact'
import { Icon, type IconName } from '../../view/icon.tsx'
import { Mark } from '../../view/mark.tsx'
import { hrefOf, type Route } from '../state/route.ts'
import type { Session } from '../state/session.ts'

interface Section {
  readonly title: string
  readonly icon: IconName
  readonly href: string
  readonly routes: readonly Route['name'][]
}

/** What the dashboard has, in the order in which it is listed. */
const SECTIONS: readonly Section[] = [
  {
    title: 'Agents',
    icon: 'agent',
    href: hrefOf({ name: 'agents' }),
    routes: ['agents', 'agent', 'agent-sessions', 'agent-log', 'session'],
  },
  {
    title: 'Builds',
    icon: 'build',
    href: hrefOf({ name: 'builds', status: undefined }),
    routes: ['builds', 'build'],
  },
  { title: 'Secrets', icon: 'secret', href: hrefOf({ name: 'secrets' }), routes: ['secrets', 'secret-set'] },
  { title: 'Keys', icon: 'key', href: hrefOf({ name: 'keys' }), routes: ['keys'] },
  { title: 'Settings', icon: 'settings', href: hrefOf({ name: 'settings' }), routes: ['settings'] },
]

interface ShellProps {
  readonly session: Session
  readonly route: Route
  readonly children: ComponentChildren
}

/** The frame around every section. */
export function Shell({ session, route, children }: ShellProps): VNode {
  return (
    <div class="shell">
      <header class="rail">
        <div class="brand">
          <Mark />
          <span class="brand-name">Your cloud</span>
        </div>
        <nav aria-label="Sections">
          <ul>
            {SECTIONS.map(({ title, icon, href, routes }) => (
              <li key={href}>
                <a href={href} aria-current={routes.includes(route.name) ? 'page' : undefined}>
                  <Icon name={icon} />
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <button type="button" class="sign-out" data-testid="sign-out" onClick={() => session.signOut()}>
          <Icon name="leave" />
          <span>Sign out</span>
        </button>
      </header>
      <main class="section">{children}</main>
    </div>
  )
}
