/** How grave something is. With a fault, the bot or a part of the project does not work. */
export type Status = 'ok' | 'warning' | 'fault'

/** What a check has found. */
export interface Finding {
  readonly status: Status
  readonly message: string
  /** What mends it: a command to paste, or a sentence where no command can. */
  readonly fix?: string
}

/** A finding and the check that it is of. */
export interface CheckResult extends Finding {
  readonly name: string
}

/** Everything is as it should be. */
export function ok(message: string): Finding {
  return { status: 'ok', message }
}

/** It works, but not as well as it could. */
export function warning(message: string, fix?: string): Finding {
  return { status: 'warning', message, ...(fix !== undefined && { fix }) }
}

/** It does not work. */
export function fault(message: string, fix?: string): Finding {
  return { status: 'fault', message, ...(fix !== undefined && { fix }) }
}
