/** How high a row is. The style sheet has the same number. */
export const ROW_HEIGHT = 20
const OVERSCAN = 15
/** Browsers scroll by parts of pixels. */
const END_PIXELS = 3

/** What of a list of equally high rows is in sight. */
export interface Sight {
  readonly scrollTop: number
  readonly height: number
}

/** The rows that have to be there, `end` not among them. */
export interface RowWindow {
  readonly start: number
  readonly end: number
}

/** The rows in sight and some around them. */
export function rowWindow({ scrollTop, height }: Sight, rows: number): RowWindow {
  const first = Math.floor(scrollTop / ROW_HEIGHT)
  const start = Math.max(0, Math.min(first, rows - 1) - OVERSCAN)
  const end = Math.min(rows, first + Math.ceil(height / ROW_HEIGHT) + OVERSCAN)
  return { start, end: Math.max(start, end) }
}

/** Whether a row is wholly in sight. */
export function isInSight(row: number, { scrollTop, height }: Sight): boolean {
  const top = row * ROW_HEIGHT
  return top >= scrollTop && top + ROW_HEIGHT <= scrollTop + height
}

/** How far to scroll for a row to be in the middle. */
export function scrollTopFor(row: number, height: number): number {
  return Math.max(0, row * ROW_HEIGHT - (height - ROW_HEIGHT) / 2)
}

/**
 * Whether the end is followed after a scroll: at the very end it is, after the least move up it is not, and otherwise nothing changes, so
 * that neither a list that grows faster than it is drawn nor a slow hand on the wheel is misunderstood.
 */
export function followsAfter(
  follows: boolean,
  before: number,
  { scrollTop, height }: Sight,
  content: number,
): boolean {
  if (content - scrollTop - height < END_PIXELS) return true
  return scrollTop < before ? false : follows
}
