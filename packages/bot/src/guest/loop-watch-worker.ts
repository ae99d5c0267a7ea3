import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import type { GuestReport } from '@botcli/protocol'
import type { LoopWatchData } from './loop-watch.ts'
import { MainThreadPause } from './main-thread-pause.ts'

/** A loop that stands still for so long is worth a word. */
const BLOCKED_MS = 500
/** How often to look whether a standstill is over. */
const CHECK_MS = 50
/** How long the main thread may take to say where it is. It cannot while it is inside native code. */
const LOCATE_MS = 500

const { beats, beatMs, mark, parentPid, ownUrl } = workerData as LoopWatchData

/** A time in which the loop stands still. */
interface Standstill {
  readonly since: number
  readonly pause: MainThreadPause
}

let standstill: Standstill | undefined
let awakeSince = 0

void watch()

async function watch(): Promise<void> {
  for (;;) {
    // While all is well there is nothing to see before the next beat is overdue.
    const due = standstill ? now() + CHECK_MS : aliveAt() + BLOCKED_MS + 1
    await setTimeout(Math.max(due - now(), 1))
    // When this thread was late itself, the whole machine stood still, which is not the bot's doing.
    if (now() - due > BLOCKED_MS) awakeSince = now()
    if (standstill) await checkEnd(standstill)
    else if (now() - aliveAt() > BLOCKED_MS) await checkBegin()
  }
}

async function checkBegin(): Promise<void> {
  const since = lastBeat()
  const pause = new MainThreadPause(ownUrl)
  standstill = { since, pause }
  const at = await pause.place(LOCATE_MS)
  if (lastBeat() === since) report(now() - since, false, at)
}

async function checkEnd({ since, pause }: Standstill): Promise<void> {
  const until = lastBeat()
  if (until === since) {
    // A guest that stands still cannot see that its runner is gone, and would burn a core for ever.
    if (process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL')
    return
  }
  standstill = undefined
  // A thread that was inside native code says where it is when it comes out, which is now.
  const at = await pause.place(LOCATE_MS)
  pause.close()
  report(until - since, true, at)
}

/** The last beat was up to one interval before the standstill, half of one on average; that much is not counted. */
function report(gapMs: number, over: boolean, at: string | undefined): void {
  if (Atomics.load(beats, 1) === 0n) return
  const place = at === undefined ? {} : { at }
  const found: GuestReport = { type: 'blocked', ms: Math.round(gapMs - beatMs / 2), over, ...place }
  try {
    writeSync(2, `${mark}${JSON.stringify(found)}\n`)
  } catch {
    // Nobody reads, or the pipe is full. The next report may get through.
  }
}

function now(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** When the loop can last be blamed from. */
function aliveAt(): number {
  return Math.max(lastBeat(), awakeSince)
}

function lastBeat(): number {
  return Number(Atomics.load(beats, 0) / 1_000_000n)
}
