import { EXIT } from '../exit-codes.ts'
import { Interrupt } from '../interrupt.ts'
import type { Io } from '../io.ts'
import { optionsHelp } from '../options/help.ts'
import { flag, type OptionTable, type OptionValues } from '../options/option.ts'
import { parseOptions } from '../options/parse.ts'
import { UsageError } from '../usage-error.ts'
import { Desk } from './desk.ts'
import { RemoteError } from './remote-error.ts'

/** The option that every action has. */
export const JSON_OPTION = flag({ name: 'json', help: 'Print the result as JSON.' })

/** Something that is asked of a cloud: what it is called, what it takes, and what it does. */
export interface Action {
  /** As it is typed after `botcli`, such as `build list`. */
  readonly name: string
  readonly summary: string
  run(argv: readonly string[], io: Io): Promise<number>
}

/** One row of the table of actions. */
export interface ActionRow<T extends OptionTable> {
  readonly name: string
  readonly summary: string
  /** What stands after the name in the usage line. */
  readonly usage: string
  /** How many arguments there may be. */
  readonly arguments: { readonly min: number; readonly max: number }
  /** What else there is to know, for the help. */
  readonly about: string
  readonly exitCodes?: string
  readonly options: T & { readonly json: typeof JSON_OPTION }
  /** Does the work and gives the exit code. */
  work(
    asked: { readonly args: readonly string[]; readonly values: OptionValues<T> },
    desk: Desk,
  ): Promise<number>
}

const EXIT_CODES = `  0  it was done
  1  the cloud refused, could not be reached, or nobody is signed in
  2  the command line is wrong`

/** Makes an action of its row. */
export function action<T extends OptionTable>(row: ActionRow<T>): Action {
  return {
    name: row.name,
    summary: row.summary,
    async run(argv, io) {
      const { values, positionals, problems, helpWanted } = parseOptions(argv, row.options)
      if (helpWanted) {
        io.stdout.write(help(row))
        return EXIT.ok
      }
      const wrong = [...problems, ...(problems.length === 0 ? countProblems(row, positionals) : [])]
      if (wrong.length > 0) throw new UsageError(wrong)
      const interrupt = new Interrupt(io)
      const desk = new Desk(io, { json: values.json, interrupt, name: row.name })
      try {
        return await row.work({ args: positionals, values }, desk)
      } catch (error) {
        if (interrupt.exitCode !== undefined) return interrupt.exitCode
        if (!isTold(error)) throw error
        desk.fail(error.code, advised(error))
        return EXIT.failed
      } finally {
        interrupt.close()
      }
    },
  }
}

/** Failures that are told in a sentence; all others are faults of ours. */
function isTold(error: unknown): error is Error & { readonly code: string } {
  return error instanceof RemoteError || (error instanceof Error && error.name === 'ContextError')
}

function advised(error: Error & { readonly code: string }): string {
  return error.code === 'UNAUTHORIZED' ? `${error.message} Sign in again: botcli login` : error.message
}

function countProblems<T extends OptionTable>(
  { name, usage, arguments: { min, max } }: ActionRow<T>,
  { length }: readonly string[],
): readonly string[] {
  if (length >= min && length <= max) return []
  return [`Usage: botcli ${name}${usage === '' ? '' : ` ${usage}`} [options]`]
}

function help<T extends OptionTable>({
  name,
  usage,
  about,
  summary,
  options,
  exitCodes,
}: ActionRow<T>): string {
  return `${summary}.

Usage: botcli ${name}${usage === '' ? '' : ` ${usage}`} [options]
${about === '' ? '' : `\n${about}\n`}
Options:
${optionsHelp(options)}

Exit codes:
${exitCodes ?? EXIT_CODES}
`
}
