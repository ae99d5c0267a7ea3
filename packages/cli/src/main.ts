import { nearest } from '@botcli/scaffold/nearest'
import { COMMANDS } from './commands.ts'
import { EXIT } from './exit-codes.ts'
import type { Io } from './io.ts'
import { sourceStack } from './source-stack.ts'
import { UsageError } from './usage-error.ts'
import { ownVersion } from './version.ts'

/** Runs one command line and gives its exit code. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  // A reader that went away is no reason to crash; without this, a closed pipe is an uncaught error.
  io.stdout.on('error', () => {})
  io.stderr.on('error', () => {})
  try {
    return await dispatch(argv, io)
  } catch (error) {
    io.stderr.write(describe(error, argv[0]))
    return error instanceof UsageError ? EXIT.usage : EXIT.failed
  }
}

async function dispatch([name, ...rest]: readonly string[], io: Io): Promise<number> {
  if (name === '--help' || name === '-h') {
    io.stdout.write(help())
    return EXIT.ok
  }
  if (name === '--version' || name === '-V') {
    io.stdout.write(`${ownVersion()}\n`)
    return EXIT.ok
  }
  if (name === undefined) {
    io.stderr.write(help())
    return EXIT.usage
  }
  const entry = COMMANDS.find((one) => one.name === name)
  if (!entry) throw new UsageError([unknown(name)])
  const command = await entry.load()
  return command.run(rest, io)
}

function unknown(name: string): string {
  const names = COMMANDS.map((one) => one.name)
  const all = `Commands: ${names.join(', ')}.`
  if (name.startsWith('-')) {
    return `Unknown option ${name} before a command. Only --help and --version stand there. ${all}`
  }
  const near = nearest(name, names)
  return `Unknown command "${name}".${near ? ` Did you mean "${near}"?` : ''} ${all}`
}

function help(): string {
  const width = Math.max(...COMMANDS.map((one) => one.name.length))
  const commands = COMMANDS.map((one) => `  ${one.name.padEnd(width)}  ${one.summary}`)
  return `Make voice-AI bots, run them on your machine, and deploy them to a cloud of your own.

Usage: botcli COMMAND [options]

Commands:
${commands.join('\n')}

Options:
  -h, --help     Show this help; "botcli COMMAND --help" shows that of a command
  -V, --version  Show the version
`
}

/** The text of a failure. Its stack is for faults of ours only. */
function describe(error: unknown, name: string | undefined): string {
  if (error instanceof UsageError) {
    const [first, ...others] = error.problems
    const text = others.length === 0 ? first : `\n${error.problems.map((one) => `  - ${one}`).join('\n')}`
    const command = COMMANDS.some((one) => one.name === name) ? ` ${name}` : ''
    return `botcli${command}: ${text}\nSee "botcli${command} --help".\n`
  }
  if (error instanceof Error && error.name === 'RunnerError') {
    const detail = 'detail' in error && typeof error.detail === 'string' ? `\n\n${error.detail}` : ''
    return `botcli: ${error.message}${detail}\n`
  }
  const text = error instanceof Error ? sourceStack(error.stack ?? error.message) : String(error)
  return `botcli: This should not have happened. Please report it.\n\n${text}\n`
}
