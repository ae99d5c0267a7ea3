import { render } from 'preact'
import { PageModel } from './state/page-model.ts'
import './style/base.css'
import './style/controls.css'
import './style/talk.css'
import './style/side.css'
import './style/ways.css'
import { RunnerApi } from './talk/runner-api.ts'
import { runnerFacts } from './talk/runner-facts.ts'
import { Page } from './view/page.tsx'

const root = document.getElementById('page')
if (root !== null) {
  const model = new PageModel(new RunnerApi(location.origin, fetch.bind(globalThis), runnerFacts(document)))
  // A page that goes away should not leave the bot waiting for it.
  addEventListener('pagehide', () => model.disconnect())
  render(<Page model={model} />, root)
  void model.load()
}
