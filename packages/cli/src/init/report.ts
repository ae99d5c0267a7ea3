import {
  ANSWERS_FILE,
  type ComparedFile,
  configurationFields,
  problemLine,
  quoteForShell,
} from '@botcli/scaffold'
import { EXIT, SIGNAL_EXIT } from '../exit-codes.ts'
import type { Outcome } from './outcome.ts'
import type { Place } from './place.ts'

/** What is printed about an outcome, and the exit code. */
export interface Report {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const CANCELLED = 'Cancelled. Nothing was written.'

/** Exit codes of outcomes, in one place. */
export function exitCode({ kind }: Outcome): number {
  if (kind === 'cancelled') return SIGNAL_EXIT.SIGINT
  return kind === 'project' || kind === 'guides' || kind === 'configuration' ? EXIT.ok : EXIT.failed
}

/** An outcome for people. */
export function reportText(outcome: Outcome): Report {
  const code = exitCode(outcome)
  switch (outcome.kind) {
    case 'configuration':
      return { code, stdout: configurationJson(outcome), stderr: lines(outcome.notices) }
    case 'project':
    case 'guides':
      return { code, stdout: lines(doneLines(outcome)), stderr: '' }
    default:
      return { code, stdout: '', stderr: lines(failureLines(outcome)) }
  }
}

/** An outcome for programs, all of it on stdout. */
export function reportJson(outcome: Outcome): Report {
  const code = exitCode(outcome)
  if (outcome.kind === 'configuration') return { code, stdout: configurationJson(outcome), stderr: '' }
  return { code, stdout: `${JSON.stringify(jsonOf(outcome), null, 2)}\n`, stderr: '' }
}

function jsonOf(outcome: Exclude<Outcome, { kind: 'configuration' }>): object {
  switch (outcome.kind) {
    case 'project':
      return {
        status: 'done',
        directory: outcome.place.path,
        configuration: configurationFields(outcome.configuration),
        files: outcome.files.map(({ path, status }) => ({ path, status })),
        notices: outcome.notices,
        next_steps: outcome.steps,
      }
    case 'guides':
      return {
        status: 'done',
        directory: outcome.place.path,
        files: outcome.files.map(({ path, status }) => ({ path, status })),
        notices: outcome.notices,
      }
    case 'invalid':
      return {
        status: 'error',
        code: 'invalid',
        message: outcome.message,
        problems: outcome.problems,
        ...(outcome.notices.length === 0 ? {} : { notices: outcome.notices }),
        ...(outcome.examples.length === 0 ? {} : { examples: outcome.examples }),
      }
    case 'conflict':
      return {
        status: 'error',
        code: 'conflict',
        message: conflictMessage(outcome),
        files: outcome.conflicts.map(({ path, reason }) => ({ path, reason })),
      }
    case 'failed':
      return { status: 'error', code: outcome.error.code, message: outcome.error.message }
    case 'cancelled':
      return { status: 'cancelled', message: CANCELLED }
  }
}

function doneLines(outcome: Extract<Outcome, { kind: 'project' | 'guides' }>): readonly string[] {
  const { place, files, notices } = outcome
  const what = outcome.kind === 'project' ? 'The project is' : 'The guides are'
  const where = place.shown === '.' ? 'this folder' : place.shown
  const all = [`${what} in ${where}: ${counts(files)}.`, ...notices]
  if (outcome.kind === 'guides') return outcome.forAgent ? [...all, '', ...agentLines(place)] : all
  const steps = outcome.steps.flatMap(({ title, commands }, index) => [
    `  ${index + 1}. ${title}:`,
    ...commands.map((command) => `       ${command}`),
  ])
  return [...all, '', 'Next:', ...enter(place), ...steps]
}

function agentLines(place: Place): readonly string[] {
  return [
    'Next:',
    ...enter(place),
    '  1. Open this folder in your coding agent.',
    '  2. Tell it what the bot should do; GETTING_STARTED.md has an example.',
  ]
}

function enter({ shown }: Place): readonly string[] {
  return shown === '.' ? [] : [`  cd ${quoteForShell(shown)}`]
}

/** Such as "14 files written, 1 merged, 2 kept". */
function counts(all: readonly ComparedFile[]): string {
  // What we keep for ourselves is no file of the user's.
  const files = all.filter(({ path }) => path !== ANSWERS_FILE)
  const count = (wanted: ComparedFile['status']): number =>
    files.filter(({ status }) => status === wanted).length
  const parts = [
    [count('create'), 'written'],
    [count('replace'), 'overwritten'],
    [count('merge'), 'merged'],
    [count('keep'), 'kept'],
    [count('identical'), 'already there'],
  ] as const
  const told = parts.filter(([number]) => number > 0)
  return told
    .map(([number, word], index) => (index === 0 ? `${fileCount(number)} ${word}` : `${number} ${word}`))
    .join(', ')
}

function fileCount(number: number): string {
  return number === 1 ? '1 file' : `${number} files`
}

function failureLines(
  outcome: Extract<Outcome, { kind: 'invalid' | 'conflict' | 'failed' | 'cancelled' }>,
): readonly string[] {
  switch (outcome.kind) {
    case 'invalid':
      return [
        `botcli init: ${outcome.message}`,
        ...outcome.problems.map((problem) => `  - ${problemLine(problem)}`),
        ...outcome.notices,
        ...(outcome.examples.length === 0
          ? []
          : ['For example:', ...outcome.examples.map((one) => `  ${one}`)]),
        'See "botcli init --help", and "botcli init --list-options" for every service.',
      ]
    case 'conflict':
      return [
        `botcli init: ${conflictMessage(outcome)}`,
        ...outcome.conflicts.map(({ path, reason }) => `  - ${path}: ${reason}`),
      ]
    case 'failed':
      return [`botcli init: ${outcome.error.message}`]
    case 'cancelled':
      return [CANCELLED]
  }
}

function conflictMessage({ place, conflicts }: Extract<Outcome, { kind: 'conflict' }>): string {
  const where = place.shown === '.' ? 'this folder' : place.shown
  const verb = conflicts.length === 1 ? 'is' : 'are'
  const force = conflicts.every(({ overwritable }) => overwritable)
    ? 'Move what is there, take another folder, or overwrite files with --force.'
    : 'Move what is there, or take another folder.'
  return `${fileCount(conflicts.length)} ${verb} in the way in ${where}. Nothing was written. ${force}`
}

function configurationJson({ configuration }: Extract<Outcome, { kind: 'configuration' }>): string {
  return `${JSON.stringify(configurationFields(configuration), null, 2)}\n`
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('')
}
