import { BUILD_LOG_LIMIT } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { flag, valued } from '../options/option.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import type { Desk } from '../remote/desk.ts'
import { wholeNumber } from '../run/values.ts'
import { findBuildId, readBuildId } from './build-id.ts'
import { exitCodeOf, outcomeLines } from './report.ts'
import { watchLog } from './watch.ts'

/** What fits into memory many times over. */
const MAX_LINES = 1_000_000

/** `botcli build logs ID`. */
export const logsAction = action({
  name: 'build logs',
  summary: 'Show the log of a build',
  usage: 'ID',
  arguments: { min: 1, max: 1 },
  about: `The newest lines are shown, the oldest of them first. With -f, a connection that breaks is
made again, and each line comes once. Ctrl-C leaves the build alone.`,
  exitCodes: `  0    it was shown; with -f: the build succeeded
  1    it could not be shown; with -f: the build failed, took too long or was cancelled
  2    the command line is wrong
  130  Ctrl-C was pressed; the build goes on`,
  options: {
    follow: flag({
      name: 'follow',
      short: 'f',
      help: 'Go on until the build is over, and say what became of it.',
    }),
    lines: valued({
      name: 'lines',
      short: 'n',
      argument: 'N',
      default: String(BUILD_LOG_LIMIT.default),
      help: `How many of the newest lines; with -f at most ${BUILD_LOG_LIMIT.max}.`,
      parse: wholeNumber(1, MAX_LINES),
    }),
    json: flag({ ...JSON_OPTION, help: 'Print the result as JSON; with -f, a line for each event.' }),
  },
  async work({ args, values: { follow, lines } }, desk) {
    const asked = readBuildId(args)
    const client = await desk.connect()
    const id = await findBuildId(client, asked)
    if (follow) return followBuild(client, id, desk, Math.min(lines, BUILD_LOG_LIMIT.max))
    const { logs, hasOlder } = await newestLines(client, id, lines)
    desk.print({ logs, complete: !hasOlder })
    for (const line of logs) desk.say(line)
    if (hasOlder && !desk.json) {
      desk.note(`(older lines are not shown: botcli build logs ${id} -n ${Math.min(MAX_LINES, lines * 20)})`)
    }
    return EXIT.ok
  },
})

async function followBuild(client: CloudClient, id: string, desk: Desk, limit: number): Promise<number> {
  try {
    await watchLog(client, id, desk, { signal: AbortSignal.any([desk.signal, desk.gone]), limit })
  } catch (error) {
    if (desk.gone.aborted) return EXIT.failed
    if (desk.signal.aborted && !desk.json) {
      desk.note(`Stopped; the build is left alone. Follow it again: botcli build logs -f ${id}`)
    }
    throw error
  }
  const build = await client.getBuild(id)
  desk.emit('outcome', { status: build.status, build })
  if (!desk.json) for (const line of outcomeLines(build, desk.notePaint)) desk.note(line)
  return exitCodeOf(build)
}

/** The newest lines, in as many answers as it takes. */
async function newestLines(
  client: CloudClient,
  id: string,
  wanted: number,
): Promise<{ readonly logs: readonly string[]; readonly hasOlder: boolean }> {
  const pages: (readonly string[])[] = []
  let missing = wanted
  let nextToken: string | undefined
  do {
    const page = await client.readLogs(id, { limit: Math.min(missing, BUILD_LOG_LIMIT.max), nextToken })
    pages.unshift(page.logs)
    missing -= page.logs.length
    nextToken = page.logs.length === 0 ? undefined : page.nextToken
  } while (nextToken !== undefined && missing > 0)
  return { logs: pages.flat(), hasOlder: nextToken !== undefined }
}
