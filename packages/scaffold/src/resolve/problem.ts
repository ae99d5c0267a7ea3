/** What is wrong with an option, in one word. */
export type ProblemCode =
  | 'missing'
  | 'unknown_value'
  | 'duplicate'
  | 'conflict'
  | 'no_effect'
  | 'unusable_name'
  | 'unreadable'
  | 'bad_json'
  | 'unknown_key'
  | 'wrong_type'

/** One thing that keeps a project from being made. */
export interface Problem {
  /** As the config file spells it. */
  readonly field: string
  /** What to give on the command line, or where the mistake is. */
  readonly flag: string
  readonly code: ProblemCode
  /** What was given, as JSON has it. */
  readonly value?: unknown
  /** What is wrong, and why; whole sentences. */
  readonly message: string
  /** What could be given instead. */
  readonly allowed?: readonly string[]
  /** What was probably meant. */
  readonly suggestion?: string
}

/** A problem in one line, with what was probably meant and what is allowed. */
export function problemLine({ message, suggestion, allowed }: Problem): string {
  return [
    message,
    ...(suggestion === undefined ? [] : [`Did you mean ${suggestion}?`]),
    ...(allowed === undefined ? [] : [`Allowed: ${allowed.join(', ')}.`]),
  ].join(' ')
}

/** A text from outside, quoted, on one line and not too long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
