/** One simple command of a shell line. */
export interface SimpleCommand {
  /** Variables that are set for it alone. */
  readonly env: Readonly<Record<string, string>>
  readonly words: readonly string[]
}

const TOKEN = /\s+|&&|;|'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s&;|<>()`$'"\\]+|\$\{?\w+\}?|./gs

/**
 * Cuts a shell line into simple commands joined by `&&` or `;`. Anything cleverer (pipes, substitutions, loops) gives `undefined`: only
 * a shell can tell what it does.
 */
export function simpleCommands(line: string): readonly SimpleCommand[] | undefined {
  const commands: string[][] = [[]]
  let word: string | undefined
  const end = (): void => {
    if (word !== undefined) commands.at(-1)?.push(word)
    word = undefined
  }
  for (const [token] of line.matchAll(TOKEN)) {
    if (/^\s/.test(token)) end()
    else if (token === '&&' || token === ';') {
      end()
      commands.push([])
    } else if (/^[&|<>()`$]/.test(token)) return undefined
    else if (token.startsWith("'")) word = (word ?? '') + token.slice(1, -1)
    else if (token.startsWith('"')) {
      if (/(?<!\\)[`$]/.test(token)) return undefined
      word = (word ?? '') + token.slice(1, -1).replace(/\\(["\\$`])/g, '$1')
    } else if (token.startsWith('\\')) word = (word ?? '') + token.slice(1)
    else word = (word ?? '') + token
  }
  end()
  return commands.filter((words) => words.length > 0).map(withoutAssignments)
}

function withoutAssignments(words: readonly string[]): SimpleCommand {
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word))
  const count = first === -1 ? words.length : first
  const pairs = words
    .slice(0, count)
    .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)])
  return { env: Object.fromEntries(pairs), words: words.slice(count) }
}
