import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { optionsHelp } from '../options/help.ts'
import { parseOptions } from '../options/parse.ts'
import { UsageError } from '../usage-error.ts'
import { DOCTOR_OPTIONS } from './options.ts'

/** `botcli doctor [DIR] [options]`. */
export const doctorCommand: Command = {
  async run(argv, io) {
    const { values, positionals, problems, helpWanted } = parseOptions(argv, DOCTOR_OPTIONS)
    if (helpWanted) {
      io.stdout.write(help())
      return EXIT.ok
    }
    const [directory = '.', ...others] = positionals
    const tooMany = others.length > 0 ? [`Only one folder can be checked, not ${positionals.length}.`] : []
    if (problems.length > 0 || tooMany.length > 0) throw new UsageError([...problems, ...tooMany])
    const { examineFolder } = await import('./examination.ts')
    return examineFolder({ directory, ...values }, io)
  },
}

function help(): string {
  return `Check a project: what is wrong with it, and what mends it.

Usage: botcli doctor [DIR] [options]

DIR is a folder that "botcli init" has made, or any other with a bot; by default, the current one. Nothing
is changed. The tools, the Python environment, the keys (never their values), the client, the ports, the
guides and the files for the cloud are looked at.

Options:
${optionsHelp(DOCTOR_OPTIONS)}

Exit codes:
  0    nothing is at fault; there may be warnings
  1    something is at fault
  2    the command line is wrong
  130  stopped by Ctrl-C
`
}
