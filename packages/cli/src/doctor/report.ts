import { COLOURS, type Paint, paintFor } from '../paint.ts'
import type { CheckResult, Status } from './finding.ts'

/** How a terminal shows a status, and how other readers get it. */
const MARKS: Readonly<
  Record<Status, { readonly mark: string; readonly word: string; readonly colour: number }>
> = {
  ok: { mark: '✓', word: 'ok     ', colour: COLOURS.green },
  warning: { mark: '!', word: 'warning', colour: COLOURS.yellow },
  fault: { mark: '✗', word: 'fault  ', colour: COLOURS.red },
}

/** Whom lines are written for. */
export interface Reader {
  readonly isTerminal: boolean
  readonly wantsColour: boolean
}

/** A check as people read it: a line, and one more with what mends it. */
export function formatResult(
  { name, status, message, fix }: CheckResult,
  width: number,
  reader: Reader,
): string {
  const paint = painter(reader)
  const { mark, word, colour } = MARKS[status]
  const label = name.replaceAll('-', ' ').padEnd(width)
  const line = `  ${paint(colour, reader.isTerminal ? mark : word)} ${label}  ${printable(message)}\n`
  const shown = reader.isTerminal ? mark : word
  const indent = ' '.repeat(shown.length + width + 5)
  return fix === undefined ? line : `${line}${indent}${paint(COLOURS.dim, 'fix:')} ${printable(fix)}\n`
}

/** What it comes to. */
export function formatSummary(results: readonly CheckResult[], reader: Reader): string {
  const paint = painter(reader)
  const faults = results.filter(({ status }) => status === 'fault').length
  const warnings = results.filter(({ status }) => status === 'warning').length
  const about = warnings === 0 ? '' : `, ${count(warnings, 'warning')}`
  const text =
    faults > 0 ? paint(COLOURS.red, count(faults, 'fault')) : paint(COLOURS.green, 'Nothing is at fault')
  return `\n  ${text}${about}.\n`
}

/** The same for programs. */
export function formatJson(results: readonly CheckResult[]): string {
  return `${JSON.stringify({ checks: results, ok: isWell(results) }, null, 2)}\n`
}

/** Whether there is no fault. */
export function isWell(results: readonly CheckResult[]): boolean {
  return results.every(({ status }) => status !== 'fault')
}

function painter({ isTerminal, wantsColour }: Reader): Paint {
  return paintFor(isTerminal && wantsColour)
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** What programs and files say may steer a terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ')
}
