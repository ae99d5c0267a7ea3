/** A line of generated Python is never longer, as its `pyproject.toml` says. */
export const LINE_WIDTH = 100

/** A call, with arguments as they are written. */
export interface Call {
  readonly name: string
  readonly args: readonly Argument[]
}

/** An argument: a value alone, or with its name. */
export interface Argument {
  readonly name?: string
  readonly value: Expression
}

/** Python that makes a value: as it stands, or a call. */
export type Expression = string | Call

/** A call. */
export function call(name: string, args: readonly Argument[] = []): Call {
  return { name, args }
}

/** A named argument. */
export function named(name: string, value: Expression): Argument {
  return { name, value }
}

/** Text as Python spells it, in the quotes that its formatter prefers. */
export function pythonString(text: string): string {
  const escaped = text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')
  return `"${escaped}"`
}

/**
 * A statement as the formatter would leave it: on one line where it fits, else one argument a line.
 * The comma after the last one keeps it so.
 */
export function statement(indent: number, before: string, expression: Expression, after = ''): string {
  return `${' '.repeat(indent)}${before}${fitted(expression, indent, before.length, after.length)}${after}`
}

function fitted(expression: Expression, indent: number, before: number, after: number): string {
  const flat = onOneLine(expression)
  if (typeof expression === 'string' || indent + before + flat.length + after <= LINE_WIDTH) return flat
  const inner = indent + 4
  const lines = expression.args.map(({ name, value }) => {
    const head = name === undefined ? '' : `${name}=`
    return `${' '.repeat(inner)}${head}${fitted(value, inner, head.length, 1)},\n`
  })
  return `${expression.name}(\n${lines.join('')}${' '.repeat(indent)})`
}

function onOneLine(expression: Expression): string {
  if (typeof expression === 'string') return expression
  const args = expression.args.map(
    ({ name, value }) => `${name === undefined ? '' : `${name}=`}${onOneLine(value)}`,
  )
  return `${expression.name}(${args.join(', ')})`
}
