const NEWLINE = 10
/** Short lines cost more than long ones: so many of them are enough for one go, in which nobody else is served. */
const MAX_LINES = 1000

/** The whole lines at the beginning of some bytes. */
export interface WholeLines {
  /** How many bytes they are. */
  readonly length: number
  /** Whether there are more after them. */
  readonly hasMore: boolean
}

/** Finds the whole lines at the beginning of some bytes; not all of them if they are very many. */
export function wholeLines(bytes: Buffer): WholeLines {
  const all = bytes.lastIndexOf(NEWLINE) + 1
  let length = 0
  for (let lines = 0; lines < MAX_LINES && length < all; lines += 1)
    length = bytes.indexOf(NEWLINE, length) + 1
  return { length, hasMore: length < all }
}
