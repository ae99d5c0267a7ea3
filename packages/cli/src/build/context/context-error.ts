/** Why a folder cannot be sent. */
export type ContextErrorCode =
  | 'ignore_file_invalid'
  | 'dockerfile_missing'
  | 'unreadable'
  | 'link_outside'
  | 'too_large'
  | 'changed'

/** A folder cannot be sent as build context. The message says what is in the way and what to do. */
export class ContextError extends Error {
  readonly code: ContextErrorCode

  constructor(code: ContextErrorCode, message: string) {
    super(message)
    this.name = 'ContextError'
    this.code = code
  }
}
