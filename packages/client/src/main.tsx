import { render } from 'preact'
import { KeyShelf } from './cloud/state/key-shelf.ts'
import { PageModel } from './state/page-model.ts'
import { TalkDoor } from './state/talk-door.ts'
import './style/base.css'
import './style/controls.css'
import './style/talk.css'
import './style/side.css'
import './style/ways.css'
import './style/door.css'
import { RunnerApi } from './talk/runner-api.ts'
import { runnerFacts } from './talk/runner-facts.ts'
import { Page } from './view/page.tsx'
import { TalkDoorView } from './view/talk-door-view.tsx'

/** Where a cloud serves this page. */
const CLOUD_PATH = '/talk/'

const root = document.getElementById('page')
if (root !== null) {
  const facts = runnerFacts(document)
  if (facts === undefined && location.pathname === CLOUD_PATH) talkInCloud(root)
  else talkWithRunner(root, new RunnerApi(location.origin, fetch.bind(globalThis), facts))
}

function talkWithRunner(root: HTMLElement, runner: RunnerApi): void {
  const model = new PageModel(runner)
  // A page that goes away should not leave the bot waiting for it.
  addEventListener('pagehide', () => model.disconnect())
  render(<Page model={model} />, root)
  void model.load()
}

function talkInCloud(root: HTMLElement): void {
  const { origin, search, hash, pathname } = location
  const shelf = new KeyShelf(sessionStorage, localStorage)
  const door = new TalkDoor({ origin, search, hash, shelf, fetch: fetch.bind(globalThis) })
  // Whoever looks at the address or at the history is not to see the key.
  if (hash !== '') history.replaceState(null, '', `${pathname}${search}`)
  if (door.agent !== '') document.title = `Talk to ${door.agent} – botcli`
  addEventListener('storage', (event) => door.hear(event))
  addEventListener('pagehide', () => door.page.peek()?.disconnect())
  render(<TalkDoorView door={door} />, root)
}
