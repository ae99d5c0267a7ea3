/** A value that an option or a variable cannot have. The message says what is allowed. */
export class ValueError extends Error {
  readonly code = 'value'

  constructor(message: string) {
    super(message)
    this.name = 'ValueError'
  }
}

/** One row of an option table: it drives parsing, validation and help. */
export interface Option<T> {
  /** Without the dashes. */
  readonly name: string
  /** One letter, without the dash. */
  readonly short?: string
  /** What stands for the value in the help; a switch has none. */
  readonly argument?: string
  readonly repeatable: boolean
  /** A switch that also has `no-` in front of it. It is read as the words `true` and `false`. */
  readonly negatable?: true
  /** What holds when the option is not given, for people. */
  readonly default?: string
  readonly help: string
  /** Makes the value of what was given, in order; nothing was given when it is empty. Throws {@link ValueError}. */
  read(texts: readonly string[]): T
}

/** The rows of a command's options, by the names that its code uses. */
export type OptionTable = Readonly<Record<string, Option<unknown>>>

/** What a table reads from a command line. */
export type OptionValues<T extends OptionTable> = { readonly [K in keyof T]: ReturnType<T[K]['read']> }

interface Row {
  readonly name: string
  readonly short?: string
  readonly help: string
}

interface ValueRow<T> extends Row {
  readonly argument: string
  parse(text: string): T
}

/** An option that is there or not. */
export function flag(row: Row): Option<boolean> {
  return { ...row, repeatable: false, read: (texts) => texts.length > 0 }
}

/** An option that is turned on or, with `no-` in front of it, off; nothing when neither was given. */
export function toggle(row: Row & { readonly default?: string }): Option<boolean | undefined> {
  return {
    ...row,
    repeatable: false,
    negatable: true,
    read: (texts) => {
      if (new Set(texts).size > 1) throw new ValueError(`and --no-${row.name} cannot both be given.`)
      return texts[0] === undefined ? undefined : texts[0] === 'true'
    },
  }
}

/** An option with one value and a default, which is written as on the command line. */
export function valued<T>(row: ValueRow<T> & { readonly default: string }): Option<T> {
  return { ...row, repeatable: false, read: ([text = row.default]) => row.parse(text) }
}

/** An option with one value that may be missing. */
export function optional<T>(row: ValueRow<T> & { readonly default?: string }): Option<T | undefined> {
  return { ...row, repeatable: false, read: ([text]) => (text === undefined ? undefined : row.parse(text)) }
}

/** An option that may come several times, each with one or more values. */
export function repeatable<T>(
  row: ValueRow<readonly T[]> & { readonly default?: string },
): Option<readonly T[] | undefined> {
  return {
    ...row,
    repeatable: true,
    read: (texts) => (texts.length === 0 ? undefined : texts.flatMap((text) => row.parse(text))),
  }
}
