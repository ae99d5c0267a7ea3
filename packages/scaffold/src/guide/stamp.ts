import { sha256 } from '../sha256.ts'

/** What the first line of a guide says about it. */
export interface Stamp {
  /** Of the botcli that wrote it. */
  readonly version: string
  /** Whether the rest is not what was written then. */
  readonly edited: boolean
}

const FIRST_LINE =
  /^<!-- botcli ([^ ]{1,64}) ([0-9a-f]{16}): do not edit this line\. Refresh this file with: botcli init \. --overwrite-guide -->$/

/** A guide with its first line, by which later versions know it again. */
export function stamped(body: string, version: string): string {
  return `<!-- botcli ${version} ${digest(body)}: do not edit this line. Refresh this file with: botcli init . --overwrite-guide -->\n${body}`
}

/** Reads the first line of a guide; a file without one is somebody else's. */
export function readStamp(text: string): Stamp | undefined {
  // Git and editors may have changed the ends of lines, which is no edit.
  const plain = withoutCarriageReturns(text)
  const end = plain.indexOf('\n')
  const [, version, hash] = FIRST_LINE.exec(end < 0 ? plain : plain.slice(0, end)) ?? []
  if (version === undefined) return undefined
  return { version, edited: end < 0 || digest(plain.slice(end + 1)) !== hash }
}

/** Text as it is compared: the ends of lines do not count. */
export function withoutCarriageReturns(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
}

/** Below zero if a version is older than another, above if it is newer. */
export function compareVersions(a: string, b: string): number {
  const [numbersA, tagA] = parts(a)
  const [numbersB, tagB] = parts(b)
  for (const index of [0, 1, 2]) {
    const difference = (numbersA[index] ?? 0) - (numbersB[index] ?? 0)
    if (difference !== 0) return difference
  }
  if (tagA === tagB) return 0
  // A version with a tag comes before the one without.
  if (tagA === '' || tagB === '') return tagA === '' ? 1 : -1
  return tagA.localeCompare(tagB, 'en', { numeric: true })
}

function parts(version: string): readonly [readonly number[], string] {
  const [release = '', ...tag] = (version.split('+')[0] ?? '').split('-')
  return [release.split('.').map((part) => Number.parseInt(part, 10) || 0), tag.join('-')]
}

function digest(body: string): string {
  return sha256(body).slice(0, 16)
}
