import { type BuildRecord, isFinal } from '@botcli/protocol/cloud'
import { EXIT } from '../exit-codes.ts'
import { action, JSON_OPTION } from '../remote/action.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { realWait, type Wait } from '../remote/retry.ts'
import { findBuildId, readBuildId } from './build-id.ts'
import { outcomeLines } from './report.ts'

const LIMIT_MS = 15_000
const STEP_MS = 250

/** Cancels a build; false if it was over before. */
export async function cancelBuild(client: CloudClient, id: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.cancelBuild(id, signal)
    return true
  } catch (error) {
    if (error instanceof RemoteError && error.code === 'CONFLICT') return false
    throw error
  }
}

/** Waits for a build to be over, for a bounded time. */
export async function waitForEnd(
  client: CloudClient,
  id: string,
  signal: AbortSignal,
  wait: Wait = realWait,
): Promise<BuildRecord> {
  let build = await client.getBuild(id, signal)
  for (let waited = 0; !isFinal(build.status) && waited < LIMIT_MS; waited += STEP_MS) {
    await wait(STEP_MS, signal)
    build = await client.getBuild(id, signal)
  }
  return build
}

/** `botcli build cancel ID`. */
export const cancelAction = action({
  name: 'build cancel',
  summary: 'Cancel a build that is not over',
  usage: 'ID',
  arguments: { min: 1, max: 1 },
  about: '',
  options: { json: JSON_OPTION },
  async work({ args }, desk) {
    const asked = readBuildId(args)
    const client = await desk.connect()
    const id = await findBuildId(client, asked)
    const cancelled = await cancelBuild(client, id, desk.signal)
    const build = await waitForEnd(client, id, desk.signal)
    desk.print({ cancelled, build })
    if (cancelled) desk.say(...outcomeLines(build, desk.paint))
    else desk.note(`Build ${id} was over already (${build.status}); nothing was cancelled.`)
    return cancelled ? EXIT.ok : EXIT.failed
  },
})
