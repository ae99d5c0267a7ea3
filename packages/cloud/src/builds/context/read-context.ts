import { createHash } from 'node:crypto'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type ContextEntry, contextManifest, isSecretFile, MAX_CONTEXT_BYTES } from '@botcli/protocol/cloud'
import { type Extract, extract } from 'tar-stream'
import { CloudError } from '../../errors.ts'
import { ContextTree, invalid, shown, tooLarge } from './context-tree.ts'

type Entry = Extract extends AsyncIterable<infer T> ? T : never

/** Names and padding of entries may take this much beside what they hold. */
const MAX_HEADER_BYTES = 128 * 1024 * 1024

/** Takes the parts of a context as they are read. Paths are relative and cannot leave the context. */
export interface ContextVisitor {
  folder(path: string): Promise<void>
  /** It reads all of the content. */
  file(path: string, executable: boolean, content: AsyncIterable<Uint8Array>): Promise<void>
  link(path: string, target: string): Promise<void>
}

/** What a context is. */
export interface ContextSummary {
  /** sha256 of its manifest, in hex. */
  readonly hash: string
  readonly sizeBytes: number
  /** Files that hold secrets by their names; they are passed over. */
  readonly secretFiles: readonly string[]
}

/** Reads a tar.gz once, within limits. Everything that is wrong with it is a CloudError. */
export async function readContext(
  packed: Readable,
  visitor?: ContextVisitor,
  signal?: AbortSignal,
): Promise<ContextSummary> {
  const reading = new ContextReading(visitor)
  const tar = extract()
  let unpacked = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpacked += chunk.length
      if (unpacked > MAX_CONTEXT_BYTES + MAX_HEADER_BYTES) done(overSize())
      else done(null, chunk)
    },
  })
  const flowing = pipeline([packed, createGunzip(), counted, tar], signal ? { signal } : {})
  // Whichever fails first tears down the other; its error is the one that tells.
  const [flow, read] = await Promise.allSettled([flowing, reading.readAll(tar, packed)])
  const failure = [read, flow].flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  signal?.throwIfAborted()
  const own = failure.find((reason) => reason instanceof CloudError)
  if (own !== undefined) throw own
  const [first] = failure
  if (first !== undefined) throw isOfDisk(first) ? first : invalid(unreadable(first), first)
  return reading.summary()
}

class ContextReading {
  readonly #visitor: ContextVisitor | undefined
  readonly #tree = new ContextTree()
  readonly #entries: ContextEntry[] = []
  readonly #secretFiles: string[] = []
  #size = 0

  constructor(visitor: ContextVisitor | undefined) {
    this.#visitor = visitor
  }

  async readAll(tar: AsyncIterable<Entry>, source: Readable): Promise<void> {
    try {
      for await (const entry of tar) {
        await this.#read(entry)
        entry.resume()
      }
    } catch (error) {
      source.destroy()
      throw error
    }
  }

  summary(): ContextSummary {
    return {
      hash: createHash('sha256').update(contextManifest(this.#entries)).digest('hex'),
      sizeBytes: this.#size,
      secretFiles: this.#secretFiles,
    }
  }

  async #read(entry: Entry): Promise<void> {
    const { name, type, mode, linkname } = entry.header
    // Old archives mark folders by the end of their names only.
    if (type === 'directory' || (type === 'file' && name.endsWith('/'))) {
      const path = this.#tree.addFolder(name)
      if (path !== '') await this.#visitor?.folder(path)
    } else if (type === 'symlink') {
      const target = linkname ?? ''
      const path = this.#tree.addLink(name, target)
      if (this.#isSecret(path)) return
      this.#entries.push({ path, kind: 'link', size: Buffer.byteLength(target), digest: digestOf(target) })
      await this.#visitor?.link(path, target)
    } else if (type === 'file' || type === 'contiguous-file') {
      const path = this.#tree.addFile(name)
      if (this.#isSecret(path)) return
      await this.#readFile(path, (mode & 0o111) !== 0, entry)
    } else {
      throw invalid(
        `${shown(name)} is a ${type ?? 'thing of an unknown kind'}; only files, folders and symbolic links can be sent`,
      )
    }
  }

  async #readFile(path: string, executable: boolean, entry: Entry): Promise<void> {
    const hash = createHash('sha256')
    let size = 0
    const counted = async function* (this: ContextReading): AsyncGenerator<Uint8Array> {
      for await (const chunk of entry as AsyncIterable<Uint8Array>) {
        size += chunk.length
        this.#size += chunk.length
        if (this.#size > MAX_CONTEXT_BYTES) throw overSize()
        hash.update(chunk)
        yield chunk
      }
    }.call(this)
    if (this.#visitor) await this.#visitor.file(path, executable, counted)
    else for await (const _ of counted);
    this.#entries.push({ path, kind: executable ? 'executable' : 'file', size, digest: hash.digest('hex') })
  }

  #isSecret(path: string): boolean {
    if (!isSecretFile(path)) return false
    this.#secretFiles.push(path)
    return true
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function overSize(): CloudError {
  return tooLarge(`it has more than ${MAX_CONTEXT_BYTES / 1024 / 1024} MiB when it is unpacked`)
}

function isOfDisk(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

function unreadable(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  return `it is not a whole gzip-compressed tar archive (${why.replace(/[.?]+$/, '')})`
}
