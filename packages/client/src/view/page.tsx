import type { VNode } from 'preact'
import type { PageModel } from '../state/page-model.ts'
import { Dock } from './dock.tsx'
import { EventsPanel } from './events-panel.tsx'
import { Header } from './header.tsx'
import { Keypad } from './keypad.tsx'
import { LatencyPanel } from './latency-panel.tsx'
import { Notice } from './notice.tsx'
import { Setup } from './setup.tsx'
import { TranscriptView } from './transcript-view.tsx'
import { Voices } from './voices.tsx'

/** What every part of the page is given. */
export interface PartProps {
  readonly model: PageModel
}

/** The whole page. */
export function Page({ model }: PartProps): VNode {
  return (
    <div class="page">
      <Header model={model} />
      <main class="layout">
        <section class="card talk" aria-label="Conversation">
          <Voices model={model} />
          <Notice model={model} />
          <TranscriptView model={model} />
          <Dock model={model} />
        </section>
        <div class="side">
          <Setup model={model} />
          <LatencyPanel model={model} />
          <Keypad model={model} />
          <EventsPanel model={model} />
        </div>
      </main>
    </div>
  )
}
