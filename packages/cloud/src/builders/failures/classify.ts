import type { BuildFailure, FailureCode } from '@botcli/protocol/cloud'
import type { BuildResult } from '../builder.ts'
import { REQUIREMENTS, RULES, type Rule } from './rules.ts'

/** What is known of a command that failed. */
export interface FailedCommand {
  /** Its last lines, without colours. */
  readonly lines: readonly string[]
  /** Its status, if it ended by itself. */
  readonly status: number | undefined
  /** The step that it belongs to, if that is known. */
  readonly step: { readonly text: string; readonly line: number } | undefined
  /** The file in which the project names its Python packages, if it is known. */
  readonly requirements?: string | undefined
  /** The codes that cannot be the cause here. */
  readonly except?: readonly FailureCode[]
}

/** A build that came to nothing. */
export type FailedResult = Extract<BuildResult, { readonly ok: false }>

const MAX_MESSAGE = 500
/** How many lines before the end may hold the cause, and how much of each. */
const WINDOW = 200
const MAX_LINE = 1000
const INSTALL =
  /\b(?:npm (?:ci|i|install|add)|pnpm (?:i|install|add)|yarn(?: (?:install|add))?|pip3? (?:install|wheel)|uv (?:sync|pip|add|lock)|poetry install|conda install|apt(?:-get)? (?:-\S+ )*install|apk (?:-\S+ )*add|dnf (?:-\S+ )*install|yum (?:-\S+ )*install)\b/
const TELLING =
  /\b(?:error|failed|failure|fatal|cannot|could not|not found|denied|missing|invalid|no such)\b/i
/** What says only that something failed, not what. */
const EMPTY_WORDS =
  /exit (?:status|code)|subprocess exited|returned a non-zero code|A complete log of this run|^npm (?:error|ERR!)\s*$|^Error: building at STEP|did not complete successfully|executor failed running|^#\d+ |notice. A new release/

/** Whether a step installs packages. */
export function isInstall(text: string): boolean {
  return INSTALL.test(text)
}

/** Finds out of the output of a command why it failed: the one telling line, and what to do. */
export function classify(command: FailedCommand): FailedResult {
  const lines = command.lines.slice(-WINDOW).map((line) => line.slice(0, MAX_LINE))
  const installs = command.step !== undefined && isInstall(command.step.text)
  for (const rule of RULES) {
    if (command.except?.includes(rule.code)) continue
    const line = lines.findLast((candidate) => rule.pattern.test(candidate))
    if (line === undefined) continue
    // What an installer misses while it runs is its own affair, not a dependency that the project forgot.
    const code =
      installs && (rule.code === 'dependency_missing' || rule.code === 'command_failed')
        ? 'install_failed'
        : rule.code
    const hint = hintOf(rule, line).replaceAll(REQUIREMENTS, command.requirements ?? REQUIREMENTS)
    return failed(code, tellingPart(line), command.step, hint)
  }
  const line =
    lines.findLast((text) => TELLING.test(text) && !EMPTY_WORDS.test(text)) ??
    lines.findLast((text) => !EMPTY_WORDS.test(text)) ??
    lines.at(-1)
  const status =
    command.status === undefined ? 'The command was ended' : `The command ended with status ${command.status}`
  return failed(
    installs ? 'install_failed' : 'command_failed',
    (line === undefined ? undefined : tellingPart(line)) ??
      (command.status === undefined
        ? 'the command was ended'
        : `the command ended with status ${command.status}`),
    command.step,
    `${status}; the lines before it say why.`,
  )
}

/** A failure with its telling line. */
export function failed(
  code: FailureCode,
  message: string,
  step: { readonly text: string; readonly line: number } | undefined,
  hint: string,
): FailedResult {
  const text = message.trim()
  const failure: BuildFailure = { code, step: step?.text ?? null, line: step?.line ?? null, hint }
  return {
    ok: false,
    message: text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text,
    failure,
  }
}

/** What an abort comes to: the time was up, or somebody cancelled. */
export function aborted(signal: AbortSignal): FailedResult {
  if (isTimeout(signal.reason)) return timedOut()
  return failed('cancelled', 'the build was cancelled', undefined, 'Start it again when you want it.')
}

/** A build that took longer than it may. */
export function timedOut(seconds?: number): FailedResult {
  const limit = seconds === undefined ? 'its time limit' : `${seconds} seconds`
  return {
    ...failed(
      'command_failed',
      `the build took longer than ${limit}`,
      undefined,
      'Do less in the build, or raise the limit.',
    ),
    timedOut: true,
  }
}

/** A line without what engines and tools put around its words. */
function tellingPart(line: string): string {
  return line
    .replace(/^.*process failed to start with error: (.*?)(?:process exited with error: .*)?$/, '$1')
    .replace(/^\s*(?:[╰├]─▶ )?(?:cause|caused by): */i, '')
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError'
}

function hintOf({ pattern, hint }: Rule, line: string): string {
  const caught =
    pattern
      .exec(line)
      ?.slice(1)
      .find((group) => group !== undefined) ?? 'it'
  return hint.replaceAll('$1', () => caught)
}
