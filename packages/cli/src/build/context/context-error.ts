/** Why a folder cannot be sent. */
export type ContextErrorCode =
  | 'IGNORE_FILE_INVALID'
  | 'DOCKERFILE_MISSING'
  | 'UNREADABLE'
  | 'LINK_OUTSIDE'
  | 'NAME_INVALID'
  | 'TOO_LARGE'
  | 'CHANGED'
  | 'NO_ROOM'

/** A folder cannot be sent as build context. The message says what is in the way and what to do. */
export class ContextError extends Error {
  readonly code: ContextErrorCode

  constructor(code: ContextErrorCode, message: string) {
    super(message)
    this.name = 'ContextError'
    this.code = code
  }
}

/** Something in the context that cannot be read. */
export function unreadable(path: string, error: unknown): ContextError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return new ContextError(
    'UNREADABLE',
    `${path || 'The folder'} cannot be read (${code}). Make it readable, or leave it out in .dockerignore.`,
  )
}
