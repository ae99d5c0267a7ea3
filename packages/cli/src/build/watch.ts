import type { CloudClient } from '../remote/cloud-client.ts'
import { type Desk, printable } from '../remote/desk.ts'
import { type FollowEvent, type FollowOptions, followLog } from '../remote/follow.ts'

/** What may wait for a slow reader. */
const MAX_WAITING = 1024 * 1024

/** Shows a log as it comes up, to its end: lines on stdout, remarks beside them. */
export async function watchLog(
  client: CloudClient,
  buildId: string,
  desk: Desk,
  options: FollowOptions,
): Promise<void> {
  for await (const event of followLog(client, buildId, options)) {
    show(event, buildId, desk)
    await desk.flushed(MAX_WAITING)
  }
}

function show(event: FollowEvent, buildId: string, desk: Desk): void {
  if (desk.json) {
    const { type, ...fields } = event
    desk.emit(type === 'line' ? 'log' : type, fields)
    return
  }
  switch (event.type) {
    case 'line':
      desk.io.stdout.write(`${printable(event.text)}\n`)
      break
    case 'skipped':
      desk.note(
        event.from === 0
          ? `(${count(event.to)} older are not shown: botcli build logs ${buildId} -n ${event.to + 1})`
          : `(${count(event.to - event.from)} are not in the log any more)`,
      )
      break
    case 'lost':
      desk.note(`(connection lost: ${event.reason}; trying again for some minutes)`)
      break
    case 'resumed':
      desk.note(
        `(connected again after ${(event.afterMs / 1000).toFixed(1)} s; what came up since line ${event.next} follows)`,
      )
      break
    case 'end':
      if (!event.complete) {
        const read = `botcli build logs ${buildId} -n ${Math.max(1, event.end.lines)}`
        desk.note(`(the kept log has ${count(event.end.lines)}, and not all of it was shown: ${read})`)
      }
  }
}

function count(lines: number): string {
  return lines === 1 ? '1 line' : `${lines} lines`
}
