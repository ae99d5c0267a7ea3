import { shapeOf, textAt } from './shape.ts'

const KINDS = ['command', 'address', 'link'] as const

/** Something to copy or to open. */
export interface WayStep {
  readonly kind: (typeof KINDS)[number]
  readonly label: string
  readonly text: string
}

/** A way to the bot besides this page, as the runner describes it. What is to be typed stands between backticks. */
export interface Way {
  readonly id: string
  readonly label: string
  /** What it lacks; without this it is ready. */
  readonly needs: { readonly what: string; readonly how: string } | undefined
  readonly notes: readonly string[]
  readonly steps: readonly WayStep[]
}

/** The ways in what the runner wrote into the document. What cannot be shown is left out. */
export function waysFrom(value: unknown): readonly Way[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item) => {
    const shape = shapeOf(item)
    const id = textAt(shape, 'id')
    const label = textAt(shape, 'label')
    if (id === undefined || label === undefined) return []
    const needs = shapeOf(shape.needs)
    const what = textAt(needs, 'what')
    return {
      id,
      label,
      needs: what === undefined ? undefined : { what, how: textAt(needs, 'how') ?? '' },
      notes: Array.isArray(shape.notes) ? shape.notes.filter((note) => typeof note === 'string') : [],
      steps: stepsFrom(shape.steps),
    }
  })
}

/** How many of the ways can be used now. */
export function readyCount(ways: readonly Way[]): string {
  const ready = ways.filter((way) => way.needs === undefined).length
  return ready === ways.length ? `${ready}` : `${ready} of ${ways.length}`
}

function stepsFrom(value: unknown): readonly WayStep[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item) => {
    const shape = shapeOf(item)
    const kind = KINDS.find((known) => known === shape.kind)
    const label = textAt(shape, 'label')
    const text = textAt(shape, 'text')
    if (kind === undefined || label === undefined || text === undefined) return []
    // A link is followed with one click, so it must be one that leads to a page.
    return kind === 'link' && !/^https?:/.test(text) ? [] : { kind, label, text }
  })
}
