import { amplitudeAt } from '../../packages/media/src/testing/spectrum.ts'
import { SENTENCES } from './openai-double.ts'

const WINDOW_MS = 100
const AUDIBLE = 1500

/** Which sentences were heard, in their order, each with the milliseconds that were heard of it. */
export function melody(samples: Int16Array, rate: number): { readonly said: string; readonly ms: number }[] {
  const found: { said: string; ms: number }[] = []
  const step = (rate * WINDOW_MS) / 1000
  for (let at = 0; at + step <= samples.length; at += step) {
    const said = sentenceIn(samples.subarray(at, at + step), rate)
    const last = found.at(-1)
    if (said === undefined) continue
    if (last?.said === said) last.ms += WINDOW_MS
    else found.push({ said, ms: WINDOW_MS })
  }
  // The edge between two tones may look like a third.
  return found.filter(({ ms }) => ms > WINDOW_MS)
}

function sentenceIn(window: Int16Array, rate: number): string | undefined {
  const strengths = Object.entries(SENTENCES).map(([said, { hertz }]) => ({
    said,
    strength: amplitudeAt(window, hertz, rate),
  }))
  const [strongest] = strengths.sort((a, b) => b.strength - a.strength)
  return strongest !== undefined && strongest.strength > AUDIBLE ? strongest.said : undefined
}
