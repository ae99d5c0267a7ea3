import { BUILD_LIST_LIMIT } from '@botcli/protocol/cloud'
import type { CloudClient } from '../remote/cloud-client.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { UsageError } from '../usage-error.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const BEGINNING = /^[0-9a-f]{4}[0-9a-f-]{0,31}$/i

/** The beginning of the id of a build, or all of it. */
export function readBuildId([text = '']: readonly string[]): string {
  if (BEGINNING.test(text) || UUID.test(text)) return text.toLowerCase()
  throw new UsageError([
    `ID must be the id of a build, which "botcli build list" shows, or its beginning, not ${JSON.stringify(text)}.`,
  ])
}

/** The build that is meant by the beginning of its id, among the newest ones. */
export async function findBuildId(client: CloudClient, text: string): Promise<string> {
  if (UUID.test(text)) return text
  const { builds } = await client.listBuilds({ limit: BUILD_LIST_LIMIT.max })
  const [found, another] = builds.filter(({ id }) => id.startsWith(text))
  if (found !== undefined && another === undefined) return found.id
  if (found !== undefined)
    throw new UsageError([`More than one build has an id that begins with ${text}. Give more of it.`])
  throw RemoteError.local(
    'NOT_FOUND',
    `None of the newest ${BUILD_LIST_LIMIT.max} builds has an id that begins with ${text}. See: botcli build list`,
  )
}
