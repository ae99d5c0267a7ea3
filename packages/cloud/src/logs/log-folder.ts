import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { BYTES_A_PLACE, LINES_A_PLACE, Segment } from './segment.ts'
import { SparseIndex } from './sparse-index.ts'

const SEGMENT = /^(\d{16})\.log$/
const SEAL = 'sealed.json'
const INDEX = 'index'
const NEWLINE = 10
const PIECE_BYTES = 1024 * 1024

const count = z.number().int().min(0)
/** What is known of a complete log. */
const sealFile = z.strictObject({
  version: z.literal(1),
  /** Of all lines that were ever appended. */
  lines: count,
  sha256: z.string(),
  segments: z.array(z.strictObject({ first: count, lines: count, bytes: count, places: count })),
})

/** A log as its folder has it. */
export interface LogOnDisk {
  readonly segments: Segment[]
  /** Files that a crash left and that belong to nothing. */
  readonly debris: readonly string[]
  readonly seal?: { readonly sha256: string }
}

/** Where the segment lies whose first line has this number. */
export function segmentPath(folder: string, first: number): string {
  return join(folder, `${String(first).padStart(16, '0')}.log`)
}

/** Reads what is in the folder of a log, without changing it. A folder that is not there is an empty log. */
export function readLogFolder(folder: string): LogOnDisk {
  const names = namesIn(folder)
  if (names.includes(SEAL)) return readSealed(folder)
  const firsts = names.flatMap((name) => SEGMENT.exec(name)?.[1] ?? []).map(Number)
  const segments: Segment[] = []
  const debris: string[] = []
  let whole = true
  for (const first of firsts.sort((a, b) => a - b)) {
    const path = segmentPath(folder, first)
    const before = segments.at(-1)
    // After the first segment lines may be left out; anywhere else a jump means that a power cut took what stood before, and
    // nobody was ever told that the lines after it are safe.
    const follows =
      before === undefined ? first === 0 : segments.length === 1 ? first >= before.end : first === before.end
    if (!whole || !follows) {
      debris.push(path)
      continue
    }
    const segment = new Segment(path, first)
    whole = countLines(segment)
    if (segment.lines > 0 || first === 0) segments.push(segment)
    else debris.push(path)
  }
  return { segments, debris }
}

/** Writes down that a log is complete, in one step that a crash cannot halve. */
export async function writeSeal(folder: string, segments: readonly Segment[], sha256: string): Promise<void> {
  await writeDurably(join(folder, INDEX), Buffer.concat(segments.map(({ index }) => index.toBytes())))
  const seal: z.infer<typeof sealFile> = {
    version: 1,
    lines: segments.at(-1)?.end ?? 0,
    sha256,
    segments: segments.map(({ first, lines, bytes, index }) => ({ first, lines, bytes, places: index.size })),
  }
  const draft = join(folder, `${SEAL}.draft`)
  await writeDurably(draft, Buffer.from(`${JSON.stringify(seal)}\n`))
  await rename(draft, join(folder, SEAL))
  await syncFolder(folder)
}

/** Makes names that were added to a folder or taken from it survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const file = await open(folder, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(bytes)
    await file.datasync()
  } finally {
    await file.close()
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

function readSealed(folder: string): LogOnDisk {
  const seal = sealFile.parse(JSON.parse(readFileSync(join(folder, SEAL), 'utf8')))
  const index = readFileSync(join(folder, INDEX))
  let at = 0
  const segments = seal.segments.map((size) => {
    const length = SparseIndex.byteLength(size.places)
    const places = SparseIndex.fromBytes(index.subarray(at, at + length))
    at += length
    return Segment.known(segmentPath(folder, size.first), size, places)
  })
  return { segments, debris: [], seal: { sha256: seal.sha256 } }
}

/** Counts the whole lines of a file into a segment; says whether there was nothing else in it. */
function countLines(segment: Segment): boolean {
  const size = statSync(segment.path).size
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size))
  const descriptor = openSync(segment.path, 'r')
  try {
    let lines = 0
    let lineStart = 0
    let from = 0
    for (let start = 0; start < size; ) {
      const length = readSync(descriptor, piece, 0, piece.length, start)
      if (length === 0) break
      // No JSON string has a zero byte in it: it is what a power cut leaves of a block that was never written.
      const zero = piece.subarray(0, length).indexOf(0)
      const part = piece.subarray(0, zero < 0 ? length : zero)
      for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) {
        lines += 1
        lineStart = start + at + 1
        if (lines === LINES_A_PLACE || lineStart - from >= BYTES_A_PLACE) {
          segment.grow(lines, lineStart - from)
          from = lineStart
          lines = 0
        }
      }
      if (zero >= 0) break
      start += length
    }
    if (lines > 0) segment.grow(lines, lineStart - from)
    return lineStart === size
  } finally {
    closeSync(descriptor)
  }
}
