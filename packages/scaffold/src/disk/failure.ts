import { ScaffoldError } from '../errors.ts'

/** The code of an error of the file system. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Does something, or gives nothing when that fails with one of these codes. */
export async function unless<T>(codes: readonly string[], act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (codes.includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

/** Codes of a path at which there is nothing. */
export const NOTHING_THERE = ['ENOENT', 'ENOTDIR'] as const

/** Codes of a place at which we may not write. */
export const FORBIDDEN: readonly string[] = ['EACCES', 'EPERM', 'EROFS']

/** An error of the file system in words that help. */
export function asScaffoldError(error: unknown, place: string): ScaffoldError {
  if (error instanceof ScaffoldError) return error
  const code = codeOf(error) ?? ''
  if (FORBIDDEN.includes(code)) {
    const why = code === 'EROFS' ? 'the disk is read-only' : 'permission denied'
    return new ScaffoldError('not_writable', `botcli cannot write to ${place}: ${why}.`, { cause: error })
  }
  if (code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'ENOTDIR') {
    const message = `Somebody else has just put something into ${place} that is in the way. Nothing was written.`
    return new ScaffoldError('conflict', message, { cause: error })
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ScaffoldError('write_failed', `There is no space left for ${place}.`, { cause: error })
  }
  if (code === 'EXDEV') {
    const message = `A folder in ${place} is on another disk, so that botcli cannot write everything or nothing. Nothing was written; try it without that mount.`
    return new ScaffoldError('write_failed', message, { cause: error })
  }
  if (code === 'ENAMETOOLONG') {
    return new ScaffoldError('write_failed', `A path in ${place} is too long for this disk.`, {
      cause: error,
    })
  }
  const text = error instanceof Error ? error.message : String(error)
  return new ScaffoldError('write_failed', `botcli could not write to ${place}: ${text}.`, { cause: error })
}
