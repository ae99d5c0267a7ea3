import { EXIT } from '../exit-codes.ts'
import { Interrupt } from '../interrupt.ts'
import type { Io } from '../io.ts'
import { optionsHelp } from '../options/help.ts'
import { flag, type OptionTable, type OptionValues } from '../options/option.ts'
import { parseOptions } from '../options/parse.ts'
import { UsageError } from '../usage-error.ts'
import { CREDENTIAL_VARIABLES } from './credentials.ts'
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

const EXIT_CODES = `  0    it was done
  1    the cloud refused, could not be reached, or nobody is signed in
  2    the command line is wrong
  130  Ctrl-C was pressed`

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
      const interrupt = new Interrupt(io)
      const desk = new Desk(io, { json: values.json, interrupt, name: row.name })
      try {
        const wrong = problems.length > 0 ? problems : countProblems(row, positionals)
        if (wrong.length > 0) throw new UsageError(wrong)
        return await row.work({ args: positionals, values }, desk)
      } catch (error) {
        return failed(error, desk)
      } finally {
        await desk.flushed()
        interrupt.close()
      }
    },
  }
}

/** Tells why it was not done, and gives the exit code. Faults of ours are thrown on. */
function failed(error: unknown, desk: Desk): number {
  const { exitCode } = desk.interrupt
  if (exitCode !== undefined) {
    if (desk.json) desk.fail('INTERRUPTED', 'It was interrupted.')
    return exitCode
  }
  if (error instanceof UsageError) {
    desk.refuse(error.problems)
    return EXIT.usage
  }
  if (isTold(error)) {
    desk.fail(error.code, advised(error, desk))
    return EXIT.failed
  }
  if (desk.json) desk.fail('FAULT', error instanceof Error ? error.message : String(error))
  throw error
}

/** Failures that are told in a sentence; all others are faults of ours. */
function isTold(error: unknown): error is Error & { readonly code: string } {
  return error instanceof RemoteError || (error instanceof Error && error.name === 'ContextError')
}

/** With what can be done about a key that is no good. Who is just signing in knows. */
function advised(error: Error & { readonly code: string }, { url, io }: Desk): string {
  if (error.code !== 'UNAUTHORIZED' || url === undefined) return error.message
  const { key } = CREDENTIAL_VARIABLES
  const advice = io.env[key] ? `It is the one in ${key}.` : `Sign in again: botcli login ${url}`
  return `${error.message}\n${advice}`
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
