const TOKEN = /"(?:[^"\\]|\\[\s\S])*"?|-?\d[\d.eE+-]*|[{}[\],]/g
const COLON = /\s*:/y

/** Gives new text for a value under its field name, or nothing to leave it as it is. Arrays pass their name on. */
export type ReplaceValue = (name: string, value: string | number) => string | undefined

/**
 * Replaces values in text that is JSON, has JSON in it, or was JSON before it was cut. All else stays as it is, to the
 * last space, so that a log shows what really came.
 */
export function replaceJsonValues(text: string, replace: ReplaceValue): string {
  if (!text.includes('"')) return text
  const outer: string[] = []
  let name = ''
  return text.replace(TOKEN, (token: string, at: number) => {
    if (token === '{' || token === '[') outer.push(name)
    else if (token === '}' || token === ']') outer.pop()
    if (token === ',' || token === '}' || token === ']') name = outer.at(-1) ?? ''
    if (token.length === 1 && /[{}[\],]/.test(token)) return token
    if (!token.startsWith('"')) {
      const replaced = replace(name, Number(token))
      return replaced === undefined ? token : JSON.stringify(replaced)
    }
    const { value, spell } = readString(token)
    COLON.lastIndex = at + token.length
    if (COLON.test(text)) {
      name = value
      return token
    }
    const replaced = replace(name, value)
    return replaced === undefined ? token : spell(replaced)
  })
}

interface ReadString {
  readonly value: string
  /** Writes another value in the same way. */
  readonly spell: (value: string) => string
}

/** Reads a JSON string, which may have been cut off, or be no valid one. */
function readString(token: string): ReadString {
  const end = token.length > 1 && token.endsWith('"') ? '"' : ''
  const inner = token.slice(1, token.length - end.length)
  try {
    const value = String(JSON.parse(`"${inner.replace(/\\u[0-9a-f]{0,3}$/i, '')}"`))
    return { value, spell: (other) => `${JSON.stringify(other).slice(0, -1)}${end}` }
  } catch {
    return { value: inner, spell: (other) => `"${other}${end}` }
  }
}
