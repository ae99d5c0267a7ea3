import { BUILD_LIST_LIMIT } from '@botcli/protocol/cloud'
import { type IdKind, isWholeId, pickByBeginning, readBeginning } from '../remote/beginning.ts'
import type { CloudClient } from '../remote/cloud-client.ts'

const BUILDS: IdKind = { one: 'build', listedBy: 'botcli build list' }

/** The beginning of the id of a build, or all of it. */
export function readBuildId([text = '']: readonly string[]): string {
  return readBeginning(text, BUILDS)
}

/** The build that is meant by the beginning of its id, among the newest ones. */
export async function findBuildId(client: CloudClient, text: string): Promise<string> {
  if (isWholeId(text)) return text
  const { builds } = await client.listBuilds({ limit: BUILD_LIST_LIMIT.max })
  const ids = builds.map(({ id }) => id)
  return pickByBeginning(ids, text, BUILDS)
}
