import type { Option, OptionTable } from './option.ts'

const TEXT_COLUMN = 30
const WIDTH = 100

/** The options of a table as help shows them, with `--help` at the end of the last one. */
export function optionsHelp(table: OptionTable, { withHelp = true } = {}): string {
  const rows = Object.values(table).map((row) => [label(row), text(row)] as const)
  return [...rows, ...(withHelp ? [['-h, --help', 'Show this help.'] as const] : [])]
    .map(([left, right]) => layOut(left, right))
    .join('\n')
}

function label(row: Option<unknown>): string {
  const short = row.short === undefined ? '    ' : `-${row.short}, `
  const argument = row.argument === undefined ? '' : ` ${row.argument}`
  const name = row.negatable ? `[no-]${row.name}` : row.name
  return `${short}--${name}${argument}`
}

function text(row: Option<unknown>): string {
  const repeat = row.repeatable ? ' Can be repeated.' : ''
  const value = row.default === undefined ? '' : ` [default: ${row.default}]`
  return `${row.help}${repeat}${value}`
}

function layOut(left: string, right: string): string {
  const lines: string[] = ['']
  for (const word of right.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last.length + 1 + word.length > WIDTH - TEXT_COLUMN) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  const head = `  ${left}`
  const indent = ' '.repeat(TEXT_COLUMN)
  const body = lines.join(`\n${indent}`)
  return head.length < TEXT_COLUMN - 1 ? `${head.padEnd(TEXT_COLUMN)}${body}` : `${head}\n${indent}${body}`
}
