import { shapeOf } from '../state/shape.ts'
import { type Way, waysFrom } from '../state/ways.ts'

/** What the runner writes into the document that it serves. */
export interface RunnerFacts {
  readonly transports: readonly string[]
  /** False when the runner has a list of origins and this page's is not on it. */
  readonly originAllowed: boolean
  /** The ways to the bot that are not this page. */
  readonly ways: readonly Way[]
}

/**
 * The facts in the document, or nothing when somebody else served it. The page cannot always ask for them: browsers send
 * no `Origin` with a GET to the page's own address, and a runner with a list of origins refuses such requests.
 */
export function runnerFacts(document: Pick<Document, 'getElementById'>): RunnerFacts | undefined {
  const text = document.getElementById('runner')?.textContent
  if (!text) return undefined
  const { transports, originAllowed, ways } = shapeOf(JSON.parse(text))
  if (!Array.isArray(transports)) return undefined
  return {
    transports: transports.filter((name) => typeof name === 'string'),
    originAllowed: originAllowed !== false,
    ways: waysFrom(ways),
  }
}
