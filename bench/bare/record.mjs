import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'

const cold = process.argv.includes('--cold')
const file = process.env.BENCH_CALLS
const SCRIPT =
  "require('node:fs').appendFileSync(process.env.BENCH_CALLS, String(process.hrtime.bigint()) + '\\n')"

/** Writes down that a call came, when somebody wants to know; with --cold in a Node process that is started for it. */
export function recordCall() {
  if (file === undefined) return
  if (cold) spawn(process.execPath, ['-e', SCRIPT], { stdio: 'ignore' })
  else appendFileSync(file, `${process.hrtime.bigint()}\n`)
}
