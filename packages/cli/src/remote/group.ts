import { nearest } from '@botcli/scaffold/nearest'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { UsageError } from '../usage-error.ts'
import type { Action } from './action.ts'

/** A command that has commands of its own. */
export interface Group {
  readonly name: string
  readonly summary: string
  /** What there is to know about all of them. */
  readonly about: string
  readonly actions: readonly Action[]
}

/** Makes a command of a group: without a word after it, it shows what there is. */
export function groupCommand(group: Group): Command {
  return {
    async run(argv, io) {
      const [word, ...rest] = argv
      if (word === '--help' || word === '-h') {
        io.stdout.write(help(group))
        return EXIT.ok
      }
      if (word === undefined) {
        io.stderr.write(help(group))
        return EXIT.usage
      }
      const found = group.actions.find((action) => wordOf(action) === word)
      if (found === undefined) {
        const message = unknown(group, word)
        if (!argv.includes('--json')) throw new UsageError([message])
        io.stdout.write(`${JSON.stringify({ error: message, code: 'USAGE' })}\n`)
        return EXIT.usage
      }
      return found.run(rest, io)
    },
  }
}

function wordOf({ name }: Action): string {
  return name.split(' ').at(-1) ?? name
}

function unknown({ name, actions }: Group, word: string): string {
  const words = actions.map(wordOf)
  const near = nearest(word, words)
  const hint = near === undefined ? '' : ` Did you mean "botcli ${name} ${near}"?`
  const what = word.startsWith('-') ? 'option' : 'command'
  return `Unknown ${what} "${word}".${hint} After "botcli ${name}" comes one of: ${words.join(', ')}.`
}

function help({ name, summary, about, actions }: Group): string {
  const width = Math.max(...actions.map((action) => wordOf(action).length))
  const rows = actions.map((action) => `  ${wordOf(action).padEnd(width)}  ${action.summary}`)
  return `${summary}.

Usage: botcli ${name} COMMAND [options]

Commands:
${rows.join('\n')}

${about}
"botcli ${name} COMMAND --help" shows the help of a command.
`
}
