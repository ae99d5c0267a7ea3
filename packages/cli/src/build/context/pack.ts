import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Pack, pack } from 'tar-stream'
import { contentOf } from './content.ts'
import type { BuildContext, ContextFile } from './context.ts'
import { ContextError } from './context-error.ts'

/** The same for all, so that the same files make the same archive; late enough for tools that make ZIP files of them. */
const TIME = new Date('2000-01-01T00:00:00Z')

/** A packed context on disk. */
export interface PackedContext {
  readonly path: string
  readonly bytes: number
  /** Removes it. */
  close(): Promise<void>
}

/** Packs a context into a temporary file. Its size has to be known before it is sent, and it may be sent twice. */
export async function packContext(
  context: BuildContext,
  signal: AbortSignal,
  onProgress: (bytes: number) => void = () => {},
): Promise<PackedContext> {
  const folder = await mkdtemp(join(tmpdir(), 'botcli-context-')).catch((error: unknown) => {
    throw unwritable(error)
  })
  const close = () => rm(folder, { recursive: true, force: true })
  try {
    const path = join(folder, 'context.tar.gz')
    await write(context, path, signal, onProgress)
    return { path, bytes: (await stat(path)).size, close }
  } catch (error) {
    await close()
    signal.throwIfAborted()
    throw unwritable(error)
  }
}

async function write(
  context: BuildContext,
  path: string,
  signal: AbortSignal,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const archive = pack()
  const broken = new AbortController()
  const written = pipeline(archive, createGzip(), createWriteStream(path, { mode: 0o600 }), { signal })
  written.catch((error: Error) => broken.abort(error))
  try {
    await fill(archive, context, AbortSignal.any([signal, broken.signal]), onProgress)
  } catch (error) {
    // What broke first is the cause of the rest.
    const cause = broken.signal.aborted ? broken.signal.reason : error
    archive.destroy()
    await written.catch(() => {})
    throw cause
  }
  await written
}

async function fill(
  archive: Pack,
  { folder, files }: BuildContext,
  signal: AbortSignal,
  onProgress: (bytes: number) => void,
): Promise<void> {
  let done = 0
  for (const file of files) {
    signal.throwIfAborted()
    if (file.target === undefined) {
      await putFile(archive, folder, file, signal, (bytes) => onProgress(done + bytes))
    } else archive.entry({ ...header(file), type: 'symlink', linkname: file.target })
    done += file.size
  }
  archive.finalize()
}

async function putFile(
  archive: Pack,
  folder: string,
  file: ContextFile,
  signal: AbortSignal,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const hash = createHash('sha256')
  let length = 0
  const entry = archive.entry({ ...header(file), type: 'file', size: file.size })
  // It breaks with the archive, which tells why.
  entry.on('error', () => {})
  for await (const chunk of contentOf(file, join(folder, file.path), signal)) {
    hash.update(chunk)
    length += chunk.length
    if (length > file.size) break
    if (!entry.write(chunk)) await once(entry, 'drain', { signal })
    onProgress(length)
  }
  if (length !== file.size || hash.digest('hex') !== file.digest) throw changed(file.path)
  entry.end(null)
}

function header({ path, kind }: ContextFile) {
  return {
    name: path,
    mode: kind === 'file' ? 0o644 : 0o755,
    mtime: TIME,
    uid: 0,
    gid: 0,
    uname: '',
    gname: '',
  }
}

function changed(path: string): ContextError {
  return new ContextError(
    'CHANGED',
    `${path} changed while it was packed. Try again when nothing writes to it.`,
  )
}

/** Files that cannot be read are told by their names; what else the system refuses is to write the archive. */
function unwritable(error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error
  const why = error.code === 'ENOSPC' ? 'there is no room left' : String(error.code)
  return new ContextError(
    'NO_ROOM',
    `The context cannot be packed in ${tmpdir()} (${why}). Make room there, or name another folder for temporary files by TMPDIR.`,
  )
}
