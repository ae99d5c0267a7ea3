import { setMaxListeners } from 'node:events'
import { EXIT } from '../exit-codes.ts'
import { Interrupt } from '../interrupt.ts'
import type { Io } from '../io.ts'
import { CHECKS, type Check } from './checks/index.ts'
import { type CheckResult, fault } from './finding.ts'
import { formatJson, formatResult, formatSummary, isWell } from './report.ts'
import { Subject } from './subject.ts'

/** Longer than what a check waits for, so that it can say itself what did not answer. */
const LIMIT_MS = 25_000

/** What the command line asks for. */
export interface Wish {
  readonly directory: string
  readonly port: number
  readonly json: boolean
}

/** Checks a folder, tells what was found, and gives the exit code. */
export async function examineFolder({ directory, port, json }: Wish, io: Io): Promise<number> {
  const interrupt = new Interrupt(io)
  try {
    const { signal } = interrupt
    // Each check and each program that it runs listens, and lets go of it.
    setMaxListeners(CHECKS.length * 4, signal)
    const subject = await Subject.open({ directory, cwd: io.cwd(), port, env: io.env, signal })
    const pending = CHECKS.map((check) => result(check, subject))
    const reader = { isTerminal: io.stdout.isTTY === true, wantsColour: !io.env.NO_COLOR }
    const width = Math.max(...CHECKS.map(({ name }) => name.length))
    const results: CheckResult[] = []
    for (const one of pending) {
      const found = await one
      if (interrupt.exitCode !== undefined) return interrupt.exitCode
      if (found === undefined) continue
      results.push(found)
      if (!json) io.stdout.write(formatResult(found, width, reader))
    }
    io.stdout.write(json ? formatJson(results) : formatSummary(results, reader))
    return isWell(results) ? EXIT.ok : EXIT.failed
  } finally {
    interrupt.close()
  }
}

/** What a check finds; that it fails or takes too long is a finding, too. */
export async function result(
  { name, examine }: Check,
  subject: Subject,
  limitMs = LIMIT_MS,
): Promise<CheckResult | undefined> {
  const limit = stopAfter(limitMs, subject.signal)
  try {
    const found = await Promise.race([examine(subject), limit.reached])
    return found && { name, ...found }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { name, ...fault(`could not be checked (${why})`) }
  } finally {
    limit.close()
  }
}

/** Rejects after a time or when the user has had enough. */
function stopAfter(limitMs: number, signal: AbortSignal): { reached: Promise<never>; close(): void } {
  let close = () => {}
  const reached = new Promise<never>((_, reject) => {
    const stop = () => reject(new Error(`not within ${limitMs / 1000} seconds`))
    const timer = setTimeout(stop, limitMs)
    signal.addEventListener('abort', stop)
    close = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
    if (signal.aborted) stop()
  })
  return { reached, close: () => close() }
}
