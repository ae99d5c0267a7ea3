import { constants, fstatSync, ftruncateSync, readSync } from 'node:fs'
import { LineCleaner } from '../logs/line-cleaner.ts'
import type { Obstacle } from './obstacle.ts'
import { openPlainFile, refusalOf } from './plain-file.ts'
import { wholeLines } from './whole-lines.ts'

const BATCH_BYTES = 1024 * 1024
/** A file that has grown beyond this is emptied once it was read. */
const KEPT_BYTES = 4 * 1024 * 1024
/** One that has grown beyond this is emptied in any case: somebody prints faster than anybody reads. */
const MAX_BYTES = 32 * 1024 * 1024

/** Lines of an output, and where to go on. */
export interface OutputPart {
  readonly lines: readonly string[]
  readonly position: number
  readonly hasMore: boolean
  /** Why nothing could be read. */
  readonly obstacle?: Obstacle | undefined
}

/**
 * Reads the output of an instance on from a position, and keeps its file from growing for ever. What comes before the position is safe
 * elsewhere. The instance appends to its file, so that after it was emptied it begins again at the first byte; a position behind the
 * end tells that, until it has grown as long again: so whoever reads has to keep the position of 0 at once. Nothing waits between the
 * last look at it and its emptying, so that as good as nothing can be lost. What is no plain file is neither read nor emptied.
 */
export async function readOutput(path: string, from: number, isOver: boolean): Promise<OutputPart> {
  const nothing = { lines: [], position: from, hasMore: false }
  const handle = await openPlainFile(path, constants.O_RDWR)
  if (handle === 'gone') return nothing
  if (typeof handle === 'string') return { ...nothing, obstacle: `output-${handle}` }
  try {
    return read(handle.fd, from, isOver)
  } catch (error) {
    // Only what is not its own fault goes on from here.
    refusalOf(error)
    return { ...nothing, obstacle: 'output-locked' }
  } finally {
    await handle.close()
  }
}

function read(file: number, from: number, isOver: boolean): OutputPart {
  const { size } = fstatSync(file)
  const begin = from > size ? 0 : from
  const left = size - begin
  if (!isOver && (size > MAX_BYTES || (size > KEPT_BYTES && left === 0))) {
    ftruncateSync(file)
    return {
      lines: left === 0 ? [] : [`[${left} bytes of output are left out]`],
      position: 0,
      hasMore: false,
    }
  }
  // Nobody empties it any more, and its last words are what counts.
  if (left > MAX_BYTES) {
    // Of a file that is nothing but a hole, the end may be farther away than can be counted.
    const skipped = Number.isSafeInteger(size) ? left - KEPT_BYTES : left
    const hasMore = skipped < left
    const position = hasMore ? begin + skipped : begin
    return { lines: [`[${skipped} bytes of output are left out]`], position, hasMore }
  }
  const bytes = Buffer.allocUnsafe(Math.min(BATCH_BYTES, left))
  const length = readSync(file, bytes, 0, bytes.length, begin)
  const isEnd = begin + length >= size
  const lines = wholeLines(bytes.subarray(0, length))
  // A line that fills a batch is taken as it is.
  const isAll = !lines.hasMore && ((isOver && isEnd) || (lines.length === 0 && length === BATCH_BYTES))
  const taken = isAll ? length : lines.length
  const cleaner = new LineCleaner()
  const clean = [...cleaner.write(bytes.subarray(0, taken)), ...cleaner.close()]
  const position = begin + taken
  // Whoever comes again has what was read in a safe place, so that the file can be emptied.
  const isFull = !isOver && size > KEPT_BYTES && position === size
  return { lines: clean, position, hasMore: lines.hasMore || !isEnd || isFull }
}
