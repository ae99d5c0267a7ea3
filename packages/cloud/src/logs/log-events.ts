import type { BuildLogEnd } from '@botcli/protocol/cloud'
import type { LogSlice } from './log-store.ts'

const NEWLINE = 10
/** More than any `id: …`, `data: ` and the empty line after an event take. */
const EVENT_BYTES = 40
/** How soon a client should come back after a cut connection. */
export const STREAM_START = 'retry: 1000\n\n'
/** Keeps proxies from closing a stream on which nothing happens. */
export const STREAM_COMMENT = ': still here\n\n'
/** How often such a comment comes. */
export const COMMENT_MS = 15_000

/** Followers of one log get the same batches, and each is put into events once. */
const rendered = new WeakMap<LogSlice, Buffer>()

/** Lines as events: `id` is the number of the line, `data` the JSON string. */
export function eventsOf(slice: LogSlice): Buffer {
  let events = rendered.get(slice)
  if (events === undefined) {
    events = render(slice)
    rendered.set(slice, events)
  }
  return events
}

/** The last event of a stream. */
export function endEvent(end: BuildLogEnd): string {
  return `event: end\ndata: ${JSON.stringify(end)}\n\n`
}

function render({ body, first, end, count }: LogSlice): Buffer {
  const source = Buffer.from(body.buffer, body.byteOffset, body.length)
  const target = Buffer.allocUnsafeSlow(body.length + count * EVENT_BYTES)
  let used = 0
  let from = 0
  for (let index = 0; index < count; index += 1) {
    const newline = source.indexOf(NEWLINE, from)
    const to = newline < 0 ? source.length : newline - 1
    // A line that stands for others has the number of the last of them, so that a reader goes on after it.
    used += target.write(`id: ${index === count - 1 ? end - 1 : first + index}\ndata: `, used, 'latin1')
    used += source.copy(target, used, from, to)
    used += target.write('\n\n', used, 'latin1')
    from = newline + 1
  }
  return target.subarray(0, used)
}
