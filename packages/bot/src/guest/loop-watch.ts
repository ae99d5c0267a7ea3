import { url as debuggerUrl } from 'node:inspector'
import { Worker } from 'node:worker_threads'
import { REPORT_MARK } from '@botcli/protocol'

/** How often the loop shows that it is alive. */
const BEAT_MS = 200

/** What the watching thread is told. It loads nothing of ours but its own three files, so that it is there in time. */
export interface LoopWatchData {
  /** When the loop was last alive, in nanoseconds of the monotonic clock; and whether that is to be reported. */
  readonly beats: BigInt64Array
  readonly beatMs: number
  /** What a report begins with. */
  readonly mark: string
  /** Who started this process, as long as it lives. The watching thread may begin later than its end. */
  readonly parentPid: number
  /** Where code that is not the user's lives, as the beginning of a URL. */
  readonly ownUrl: string
}

/** A watch on an event loop. */
export interface LoopWatch {
  /** From now on a standstill is reported; loading code may take its time. */
  report(): void
  close(): void
}

/**
 * Watches the event loop of this thread from another one, which reports on standard error when the loop stands still. It
 * does not keep the process alive. Under a debugger there is no watch, since a breakpoint is not a fault.
 */
export function startLoopWatch(): LoopWatch | undefined {
  if (debuggerUrl() !== undefined) return undefined
  const beats = new BigInt64Array(new SharedArrayBuffer(16))
  const beat = (): void => {
    Atomics.store(beats, 0, process.hrtime.bigint())
  }
  beat()
  const timer = setInterval(beat, BEAT_MS).unref()
  const ownUrl = new URL('../', import.meta.url).href
  const workerData: LoopWatchData = {
    beats,
    beatMs: BEAT_MS,
    mark: REPORT_MARK,
    parentPid: process.ppid,
    ownUrl,
  }
  const worker = new Worker(new URL('./loop-watch-worker.js', import.meta.url), {
    workerData,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
  })
  const close = (): void => {
    clearInterval(timer)
    void worker.terminate()
  }
  // A bot is worth more than the watch over it.
  worker.on('error', close)
  worker.unref()
  const report = () => void Atomics.store(beats, 1, 1n)
  return { report, close }
}
