/** The variables of a stage: a value, or `undefined` for one that is declared and not known before the build. */
export type Variables = ReadonlyMap<string, string | undefined>

/** A longer word, or one that becomes longer, is left to the engine. */
const MAX_WORD = 4096
const MAX_VALUE = 16 * 1024

const REFERENCE =
  /\\(.)|'([^']*)'|"|\$(?:\{([A-Za-z_]\w*)(?:(:?[-+?])((?:[^{}\\]|\\.|\$\{[^}]*\})*))?\}|([A-Za-z_]\w*))/g

/**
 * Puts the values of variables into a word and takes its quotes off, as the instruction would. `undefined` says that it holds a variable
 * whose value is not known before the build, or a form that only an engine knows.
 */
export function substitute(word: string, variables: Variables): string | undefined {
  if (word.length > MAX_WORD) return undefined
  let left = MAX_VALUE
  let unknown = /\$\{[A-Za-z_]\w*(?:[#%/]|:[^-+?])/.test(word)
  const text = word.replace(
    REFERENCE,
    (match, escaped: string, quoted: string, braced: string, operator: string, other = '', plain = '') => {
      if (escaped !== undefined) return escaped
      if (quoted !== undefined) return quoted
      if (match === '"') return ''
      const name = braced ?? plain
      if (variables.has(name) && variables.get(name) === undefined) unknown = true
      const value = variables.get(name)
      left -= value?.length ?? 0
      if (left < 0) {
        unknown = true
        return ''
      }
      const set = operator?.startsWith(':') ? value !== undefined && value !== '' : value !== undefined
      if (operator?.endsWith('+')) return set ? inner(other) : ''
      if (operator?.endsWith('-')) return set ? (value ?? '') : inner(other)
      return value ?? ''
    },
  )
  return unknown ? undefined : text

  function inner(other: string): string {
    const value = substitute(other, variables)
    if (value === undefined) unknown = true
    return value ?? ''
  }
}

/** The `NAME=value` pairs of an ENV, LABEL or ARG instruction, or the word that is none. */
export function pairsOf(rest: string): readonly (readonly [string, string])[] | { readonly wrong: string } {
  const pairs: (readonly [string, string])[] = []
  for (const word of wordsOf(rest)) {
    const at = word.indexOf('=')
    if (at < 1) return { wrong: word }
    pairs.push([word.slice(0, at), word.slice(at + 1)])
  }
  return pairs
}

/** The words of an instruction, with their quotes; blanks inside of these do not part them. */
export function wordsOf(rest: string): readonly string[] {
  return rest.match(/(?:\\.|"(?:\\.|[^"\\])*"|'[^']*'|[^\s"'\\]|["'])+/g) ?? []
}
