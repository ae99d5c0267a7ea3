/** Every way in which a project cannot be planned or written, in one word. */
export type ScaffoldErrorCode =
  | 'plan_invalid'
  | 'target_unusable'
  | 'not_writable'
  | 'conflict'
  | 'busy'
  | 'cancelled'
  | 'write_failed'

/** A failure that the user of the scaffolder can understand and mend. The folder is as it was before. */
export class ScaffoldError extends Error {
  readonly code: ScaffoldErrorCode

  constructor(code: ScaffoldErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ScaffoldError'
    this.code = code
  }
}
