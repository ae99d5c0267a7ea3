import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'
import { codeOf } from '../errors.ts'
import { LineCleaner } from '../logs/line-cleaner.ts'

const BATCH_BYTES = 1024 * 1024
/** A file that has grown beyond this is emptied once it was read. */
const KEPT_BYTES = 4 * 1024 * 1024
/** One that has grown beyond this is emptied in any case: somebody prints faster than anybody reads. */
const MAX_BYTES = 32 * 1024 * 1024
const NEWLINE = 10

/** Lines of an output, and where to go on. */
export interface OutputPart {
  readonly lines: readonly string[]
  readonly position: number
  readonly hasMore: boolean
}

/**
 * Reads the output of an instance on from a position, and keeps its file from growing for ever. What comes before the position is safe
 * elsewhere. The instance appends to its file, so that after it was emptied it begins again at the first byte; a position behind the
 * end tells that, until it has grown as long again: so whoever reads has to keep the position of 0 at once. Nothing waits between the
 * last look at it and its emptying, so that as good as nothing can be lost.
 */
export async function readOutput(path: string, from: number, isOver: boolean): Promise<OutputPart> {
  let file: number
  try {
    file = openSync(path, 'r+')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { lines: [], position: from, hasMore: false }
    throw error
  }
  try {
    return read(file, from, isOver)
  } finally {
    closeSync(file)
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
  const bytes = Buffer.allocUnsafe(Math.min(BATCH_BYTES, left))
  const length = readSync(file, bytes, 0, bytes.length, begin)
  const isEnd = begin + length >= size
  const taken = takenOf(bytes.subarray(0, length), isOver && isEnd)
  const cleaner = new LineCleaner()
  const lines = [...cleaner.write(bytes.subarray(0, taken)), ...cleaner.close()]
  const position = begin + taken
  // Whoever comes again has what was read in a safe place, so that the file can be emptied.
  const isFull = !isOver && size > KEPT_BYTES && position === size
  return { lines, position, hasMore: !isEnd || isFull }
}

/** How many bytes are whole lines. A line that fills a batch is taken as it is. */
function takenOf(bytes: Buffer, isAll: boolean): number {
  const last = bytes.lastIndexOf(NEWLINE)
  return isAll || (last === -1 && bytes.length === BATCH_BYTES) ? bytes.length : last + 1
}
