import type { Configuration } from './configuration.ts'
import { configurationFields } from './options/fields.ts'
import type { PlannedFile } from './plan.ts'
import { resolve } from './resolve/resolve.ts'
import { sha256 } from './sha256.ts'

/** Where a project keeps what it was made from. */
export const ANSWERS_FILE = '.botcli.json'

/** What a project was made from. */
export interface Answers {
  /** Of the botcli that made it. */
  readonly version: string
  readonly configuration: Configuration
  /** The sha256 of each file as it was written, by its path. */
  readonly files: Readonly<Record<string, string>>
}

/** A file of a project with the bytes that it was written with. */
export interface WrittenFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** The file that remembers the answers. What was written before and is still there keeps its hash. */
export function answersFile(
  { version, configuration, files: before }: Answers,
  written: readonly WrittenFile[],
): PlannedFile {
  const hashes = Object.fromEntries(written.map(({ path, bytes }) => [path, sha256(bytes)]))
  const files = Object.entries({ ...before, ...hashes }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const content = {
    version,
    configuration: configurationFields(configuration),
    files: Object.fromEntries(files),
  }
  return { path: ANSWERS_FILE, content: `${JSON.stringify(content, null, 2)}\n` }
}

/** Reads the answers of a project, or nothing if the text is something else. */
export function readAnswers(text: string): Answers | undefined {
  const content = parse(text)
  if (!isRecord(content)) return undefined
  const { version, configuration, files } = content
  if (typeof version !== 'string' || !isRecord(configuration) || !isRecord(files)) return undefined
  const hashes = Object.entries(files).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  const resolution = resolve({
    flags: {},
    configFile: { path: ANSWERS_FILE, text: JSON.stringify(configuration) },
    directoryName: '',
  })
  if (!resolution.ok) return undefined
  return { version, configuration: resolution.configuration, files: Object.fromEntries(hashes) }
}

/** Whether a file is one that remembers answers, also those of another version. */
export function isAnswers(text: string): boolean {
  const content = parse(text)
  return (
    isRecord(content) &&
    typeof content.version === 'string' &&
    isRecord(content.configuration) &&
    isRecord(content.files)
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
