import { CloudError, codeOf } from './errors.ts'

/** A disk, a quota or a limit of file sizes that is used up. SQLite has one name for the last two and for a broken disk. */
const CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'SQLITE_FULL', 'SQLITE_IOERR_WRITE'])
const MAX_CAUSES = 5

/** Whether something failed because nothing more can be written, itself or by its cause. */
export function isDiskFull(error: unknown): boolean {
  let cause = error
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth += 1) {
    if (CODES.has(codeOf(cause))) return true
    cause = cause.cause
  }
  return false
}

/** What callers are told then. */
export function diskFull(cause: unknown): CloudError {
  return new CloudError('UNAVAILABLE', "The cloud's disk is full. Make room there, then try again.", {
    cause,
  })
}
