import { UsageError } from '../usage-error.ts'
import { RemoteError } from './remote-error.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const BEGINNING = /^[0-9a-f]{4}[0-9a-f-]{0,31}$/i

/** What ids are of, for people. */
export interface IdKind {
  /** One of them, such as `build`. */
  readonly one: string
  /** The command that shows them. */
  readonly listedBy: string
}

/** Whether a text is a whole id. */
export function isWholeId(text: string): boolean {
  return UUID.test(text)
}

/** The beginning of an id, or all of it. */
export function readBeginning(text: string, { one, listedBy }: IdKind): string {
  if (BEGINNING.test(text) || UUID.test(text)) return text.toLowerCase()
  throw new UsageError([
    `ID must be the id of a ${one}, which "${listedBy}" shows, or its beginning, of 4 characters or more, not ${JSON.stringify(text)}.`,
  ])
}

/** The one id that begins so, among the newest ones. */
export function pickByBeginning(ids: readonly string[], text: string, { one, listedBy }: IdKind): string {
  const [found, another] = ids.filter((id) => id.startsWith(text))
  if (found !== undefined && another === undefined) return found
  if (found !== undefined) {
    throw new UsageError([`More than one ${one} has an id that begins with ${text}. Give more of it.`])
  }
  throw RemoteError.local(
    'NOT_FOUND',
    `None of the newest ${ids.length} ${one}s has an id that begins with ${text}. See: ${listedBy}`,
  )
}
