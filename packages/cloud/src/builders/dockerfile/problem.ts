import type { BuildFailure } from '@botcli/protocol/cloud'
import type { Step } from './step.ts'

/** Something wrong with a container build file, found before anything was built. */
export interface Problem {
  readonly code: 'dockerfile_missing' | 'dockerfile_syntax' | 'copy_source_missing'
  /** What is wrong, in a sentence without a full stop. */
  readonly message: string
  readonly hint: string
  readonly step: string | null
  readonly line: number | null
}

/** A problem of the text of a step. */
export function syntaxProblem(step: Pick<Step, 'text' | 'line'>, message: string, hint: string): Problem {
  return { code: 'dockerfile_syntax', message, hint, step: step.text, line: step.line }
}

/** A problem as the API tells it. */
export function failureOf({ code, step, line, hint }: Problem): BuildFailure {
  return { code, step, line, hint }
}
