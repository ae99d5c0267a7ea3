import type { VNode } from 'preact'
import { Dock } from './dock.tsx'
import { EventsPanel } from './events-panel.tsx'
import { Header } from './header.tsx'
import { Keypad } from './keypad.tsx'
import { LatencyPanel } from './latency-panel.tsx'
import { Notice } from './notice.tsx'
import type { PartProps } from './part.ts'
import { Setup } from './setup.tsx'
import { TranscriptView } from './transcript-view.tsx'
import { Voices } from './voices.tsx'
import { WaysPanel } from './ways-panel.tsx'

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
          <WaysPanel model={model} />
          <EventsPanel model={model} />
        </div>
      </main>
    </div>
  )
}
