/** Takes a character, or any number of them. */
type Token = 'any-number' | ((character: string) => boolean)

/** A longer pattern is left to the engine. */
const MAX_PATTERN = 1024

/** Whether a name fits one part of a path with `*`, `?` and `[a-z]`. It takes steps as many as name times pattern at most, whatever is in them. */
export function fileGlob(part: string): (name: string) => boolean {
  const tokens = part.length > MAX_PATTERN ? undefined : tokensOf(part)
  return tokens === undefined ? () => true : (name) => fits(tokens, name)
}

/** Nothing for a pattern that is none, which the engine will tell. */
function tokensOf(part: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  try {
    for (const [match, escaped, not, set] of part.matchAll(/\\(.)|\[(\^?)((?:\\.|[^\]\\])+)\]|[\s\S]/g)) {
      if (set !== undefined) {
        const one = new RegExp(`^[${not}${set.replace(/[[\]]/g, '\\$&')}]$`, 's')
        tokens.push((character) => one.test(character))
      } else if (match === '*') tokens.push('any-number')
      else if (match === '?') tokens.push(() => true)
      else tokens.push((character) => character === (escaped ?? match))
    }
  } catch {
    return undefined
  }
  return tokens
}

function fits(tokens: readonly Token[], name: string): boolean {
  let token = 0
  let at = 0
  /** Where the last `*` was, and what it has not taken yet. */
  let star: { readonly token: number; at: number } | undefined
  while (at < name.length) {
    const next = tokens[token]
    if (next === 'any-number') {
      star = { token, at }
      token += 1
    } else if (next?.(name.charAt(at))) {
      token += 1
      at += 1
    } else if (star !== undefined) {
      star.at += 1
      at = star.at
      token = star.token + 1
    } else return false
  }
  while (tokens[token] === 'any-number') token += 1
  return token === tokens.length
}
