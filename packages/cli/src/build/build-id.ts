import { UsageError } from '../usage-error.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The id of a build. */
export function readBuildId([text = '']: readonly string[]): string {
  if (UUID.test(text)) return text.toLowerCase()
  throw new UsageError([
    `ID must be the id of a build, which "botcli build list" shows, not ${JSON.stringify(text)}.`,
  ])
}
