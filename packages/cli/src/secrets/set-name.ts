import { secretSetName } from '@botcli/protocol/cloud'
import { UsageError } from '../usage-error.ts'

/** The name of a set. */
export function readSetName(text = ''): string {
  const parsed = secretSetName.safeParse(text)
  if (parsed.success) return parsed.data
  throw new UsageError([
    `NAME must be 3 to 63 lower case letters, digits, hyphens and dots, with a letter or digit at both ends, not ${JSON.stringify(text)}.`,
  ])
}
