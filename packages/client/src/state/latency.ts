import { shapeOf } from './shape.ts'

/** The three parts of one answer's delay, in milliseconds, and their sum. */
export interface Turn {
  readonly id: number
  readonly wireInMs: number
  readonly botMs: number
  readonly wireOutMs: number
  readonly totalMs: number
}

/** How many turns the page remembers. */
export const TURNS_KEPT = 20

/** Reads a turn out of the data of a `metrics` message; other metrics give `undefined`. */
export function turnOf(metrics: unknown, id: number): Turn | undefined {
  const entries = shapeOf(metrics).processing
  if (!Array.isArray(entries)) return undefined
  const wireInMs = millisecondsOf(entries, 'wire-in')
  const botMs = millisecondsOf(entries, 'bot')
  const wireOutMs = millisecondsOf(entries, 'wire-out')
  if (wireInMs === undefined || botMs === undefined || wireOutMs === undefined) return undefined
  return { id, wireInMs, botMs, wireOutMs, totalMs: wireInMs + botMs + wireOutMs }
}

function millisecondsOf(entries: readonly unknown[], processor: string): number | undefined {
  const value = entries.map(shapeOf).find((entry) => entry.processor === processor)?.value
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value * 1000 : undefined
}

/** Adds a turn and forgets the oldest beyond the bound. */
export function withTurn(turns: readonly Turn[], turn: Turn): readonly Turn[] {
  return [...turns, turn].slice(-TURNS_KEPT)
}

/** The median of the turns' totals, or `undefined` before the first turn. */
export function medianMs(turns: readonly Turn[]): number | undefined {
  const totals = turns.map((turn) => turn.totalMs).sort((a, b) => a - b)
  const upper = totals[Math.floor(totals.length / 2)]
  const lower = totals[Math.floor((totals.length - 1) / 2)]
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2
}

/** A duration for people: whole milliseconds, except where a tenth still matters. */
export function inMilliseconds(value: number): string {
  return value > 0 && value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`
}
