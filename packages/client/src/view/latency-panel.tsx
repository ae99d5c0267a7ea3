import type { VNode } from 'preact'
import { inMilliseconds, medianMs, type Turn } from '../state/latency.ts'
import type { PartProps } from './part.ts'

const TURNS_SHOWN = 5

/** Where the time between the person's last word and the bot's first went, turn by turn. */
export function LatencyPanel({ model }: PartProps): VNode {
  const turns = model.turns.value
  const latest = turns.at(-1)
  const median = medianMs(turns)
  return (
    <section class="card latency" aria-labelledby="latency-title" data-testid="latency">
      <h2 id="latency-title">
        Answer time
        {median !== undefined && <small>median {inMilliseconds(median)}</small>}
      </h2>
      {latest === undefined ? (
        <p class="hint">Appears with the bot’s first answer.</p>
      ) : (
        <>
          <p class="latency-total">{inMilliseconds(latest.totalMs)}</p>
          <dl class="parts">
            <Part name="Wire in" part="in" ms={latest.wireInMs} />
            <Part name="Bot" part="bot" ms={latest.botMs} />
            <Part name="Wire out" part="out" ms={latest.wireOutMs} />
          </dl>
          <Bars turns={turns.slice(-TURNS_SHOWN)} />
        </>
      )}
    </section>
  )
}

function Part({
  name,
  part,
  ms,
}: {
  readonly name: string
  readonly part: string
  readonly ms: number
}): VNode {
  return (
    <div data-part={part}>
      <dt>{name}</dt>
      <dd>{inMilliseconds(ms)}</dd>
    </div>
  )
}

/** The picture repeats what the numbers say, so screen readers may skip it. */
function Bars({ turns }: { readonly turns: readonly Turn[] }): VNode {
  const longest = Math.max(1, ...turns.map((turn) => turn.totalMs))
  const share = (ms: number): string => `${((ms / longest) * 100).toFixed(2)}%`
  return (
    <div class="bars" aria-hidden="true">
      {turns.map((turn) => (
        <div class="bar" key={turn.id} title={inMilliseconds(turn.totalMs)}>
          <i data-part="in" style={{ width: share(turn.wireInMs) }} />
          <i data-part="bot" style={{ width: share(turn.botMs) }} />
          <i data-part="out" style={{ width: share(turn.wireOutMs) }} />
        </div>
      ))}
    </div>
  )
}
