import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ContextEntry,
  contextManifest,
  MAX_CONTEXT_BYTES,
  MAX_CONTEXT_ENTRIES,
} from '@botcli/protocol/cloud'
import { contentOf, inBatches } from './content.ts'
import { ContextError } from './context-error.ts'
import { findIgnoreFile } from './ignore-file.ts'
import { size } from './size.ts'
import { checkDockerfile, type FoundFile, walk } from './walk.ts'

const SHOWN_FILES = 5
/** So many times as many files as can be sent are counted, to say where they are. */
const COUNTED = 4

/** A file of a context with what it counts for. */
export interface ContextFile extends ContextEntry {
  /** Where a link points to. */
  readonly target?: string
}

/** A folder as it will be sent. */
export interface BuildContext {
  readonly folder: string
  readonly dockerfile: string
  /** The ignore file whose rules hold; the defaults hold if there is none. */
  readonly ignoreFile: string | undefined
  /** Patterns that leave out more than that. */
  readonly exclude: readonly string[]
  readonly files: readonly ContextFile[]
  readonly secrets: readonly string[]
  readonly special: readonly string[]
  /** Of all files, unpacked. */
  readonly bytes: number
  readonly hash: string
}

/** What is wanted of a folder. */
export interface ContextWish {
  readonly folder: string
  /** Relative to the folder. */
  readonly dockerfile: string
  readonly exclude?: readonly string[]
  readonly signal: AbortSignal
  readonly maxBytes?: number
  readonly maxFiles?: number
}

/** Reads a folder: which files are to be sent, and their hash. Contents are read, but not kept. */
export async function readContext(wish: ContextWish): Promise<BuildContext> {
  const {
    dockerfile,
    exclude = [],
    signal,
    maxBytes = MAX_CONTEXT_BYTES,
    maxFiles = MAX_CONTEXT_ENTRIES,
  } = wish
  await checkDockerfile(wish.folder, dockerfile)
  const folder = await realpath(wish.folder)
  const ignoreFile = await findIgnoreFile(folder, dockerfile, exclude)
  const limit = maxFiles * COUNTED
  const { files, secrets, special } = await walk(folder, { dockerfile, ignoreFile, limit, signal })
  if (files.length > maxFiles) throw tooMany(files, maxFiles, limit)
  if (!files.some(({ path }) => path === dockerfile)) {
    throw new ContextError(
      'DOCKERFILE_MISSING',
      `${dockerfile} has a name that secrets have, and is not sent.`,
    )
  }
  const bytes = files.reduce((sum, file) => sum + file.size, 0)
  if (bytes > maxBytes) throw tooLarge(files, bytes, maxBytes)
  const entries = await inBatches(files, signal, (file) => withDigest(folder, file, signal))
  const hash = createHash('sha256').update(contextManifest(entries)).digest('hex')
  const rules = { ignoreFile: ignoreFile.path, exclude }
  return { folder, dockerfile, ...rules, files: entries, secrets, special, bytes, hash }
}

async function withDigest(folder: string, file: FoundFile, signal: AbortSignal): Promise<ContextFile> {
  const hash = createHash('sha256')
  if (file.target !== undefined) return { ...file, digest: hash.update(file.target).digest('hex') }
  let length = 0
  for await (const chunk of contentOf(file, join(folder, file.path), signal)) {
    hash.update(chunk)
    length += chunk.length
  }
  return { ...file, size: length, digest: hash.digest('hex') }
}

function tooLarge(files: readonly FoundFile[], bytes: number, maxBytes: number): ContextError {
  const largest = files.toSorted((a, b) => b.size - a.size).slice(0, SHOWN_FILES)
  const list = largest.map((file) => `  ${size(file.size).padStart(9)}  ${file.path}`).join('\n')
  return new ContextError(
    'TOO_LARGE',
    `The context has ${size(bytes)}, and ${size(maxBytes)} is the most. Its largest files:\n${list}\nLeave out what the image does not need, in .dockerignore.`,
  )
}

function tooMany(files: readonly FoundFile[], maxFiles: number, limit: number): ContextError {
  const counts = new Map<string, number>()
  for (const { path } of files) {
    const [top = '', ...below] = path.split('/')
    if (below.length > 0) counts.set(top, (counts.get(top) ?? 0) + 1)
  }
  const count = files.length > limit ? `more than ${limit}` : files.length
  const most = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN_FILES)
  const list = most.map(([folder, count]) => `  ${String(count).padStart(9)}  ${folder}/`).join('\n')
  return new ContextError(
    'TOO_LARGE',
    `The context has ${count} files, and ${maxFiles} is the most. Most of them are in:\n${list}\nLeave out what the image does not need, in .dockerignore.`,
  )
}
