import { parseArgs } from 'node:util'
import { nearest } from '@botcli/scaffold/nearest'
import { type Option, type OptionTable, type OptionValues, ValueError } from './option.ts'

/** What was understood of a command line, and everything that was not. */
export interface Parsed<T extends OptionTable> {
  /** Options with a problem have the value that they would have had if they were not given. */
  readonly values: OptionValues<T>
  /** Keys of the options that were given, rightly or wrongly. */
  readonly given: ReadonlySet<keyof T>
  /** Keys of the values that were given, in their order on the command line: an option once for each of its values. */
  readonly sequence: readonly (keyof T)[]
  readonly positionals: readonly string[]
  readonly helpWanted: boolean
  readonly problems: readonly string[]
}

/** Reads a command line by a table. It never throws because of what the user wrote. */
export function parseOptions<T extends OptionTable>(argv: readonly string[], table: T): Parsed<T> {
  const rows = Object.values(table)
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries([
      ['help', { type: 'boolean', short: 'h' }],
      ...rows.map((row) => [row.name, argOption(row)]),
      ...rows.filter((row) => row.negatable).map((row) => [`no-${row.name}`, { type: 'boolean' }]),
    ]),
  })

  const problems: string[] = []
  const unknown: string[] = []
  const positionals: string[] = []
  const texts = new Map<string, string[]>(rows.map((row) => [row.name, []]))
  const order: string[] = []
  let helpWanted = false
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const row = rowOf(token.name, rows)
    if (token.name === 'help') helpWanted = true
    else if (!row) unknown.push(unknownOption(token.rawName, rows))
    else if (row.argument === undefined && token.value !== undefined) {
      problems.push(`${token.name === row.name ? spell(row) : token.rawName} takes no value.`)
    } else if (row.argument !== undefined && (token.value === undefined || isSwallowed(token))) {
      problems.push(`${spell(row)} needs a value: ${row.argument}.`)
    } else {
      texts.get(row.name)?.push(token.value ?? String(token.name === row.name))
      order.push(row.name)
    }
  }

  const given = new Set<keyof T>()
  const entries: [string, unknown][] = []
  for (const [key, row] of Object.entries(table)) {
    const own = texts.get(row.name) ?? []
    if (tokens.some((token) => token.kind === 'option' && rowOf(token.name, rows) === row)) given.add(key)
    if (own.length > 1 && !row.repeatable && row.argument !== undefined) {
      problems.push(`${spell(row)} was given ${own.length} times (${own.join(', ')}); it takes one value.`)
    }
    try {
      entries.push([key, row.read(own)])
    } catch (error) {
      if (!(error instanceof ValueError)) throw error
      problems.push(`${spell(row)} ${error.message}`)
      entries.push([key, row.read([])])
    }
  }
  return {
    values: Object.fromEntries(entries) as OptionValues<T>,
    given,
    sequence: order.flatMap((name) => Object.keys(table).filter((key) => table[key]?.name === name)),
    // The value of an unknown option looks like an argument; it would only be a second complaint.
    positionals: unknown.length > 0 ? [] : positionals,
    helpWanted,
    problems: [...unknown, ...problems],
  }
}

function rowOf(name: string, rows: readonly Option<unknown>[]): Option<unknown> | undefined {
  return rows.find((row) => name === row.name || (row.negatable === true && name === `no-${row.name}`))
}

/** How messages name an option. */
export function spell(row: Pick<Option<unknown>, 'name' | 'short'>): string {
  return row.short === undefined ? `--${row.name}` : `-${row.short}/--${row.name}`
}

/** The next option was taken as the value of one that has none. */
function isSwallowed(token: { readonly value: string; readonly inlineValue: boolean }): boolean {
  return !token.inlineValue && /^--?[a-z]/i.test(token.value)
}

function argOption(row: Option<unknown>): { type: 'string' | 'boolean'; multiple: true; short?: string } {
  const type = row.argument === undefined ? 'boolean' : 'string'
  return row.short === undefined ? { type, multiple: true } : { type, multiple: true, short: row.short }
}

function unknownOption(rawName: string, rows: readonly Option<unknown>[]): string {
  const near = rawName.startsWith('--')
    ? nearest(
        rawName.slice(2),
        rows.flatMap((row) => (row.negatable ? [row.name, `no-${row.name}`] : [row.name])),
      )
    : undefined
  return `Unknown option ${rawName}.${near ? ` Did you mean --${near}?` : ''}`
}
