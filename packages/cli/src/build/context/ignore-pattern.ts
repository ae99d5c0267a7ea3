import { posix } from 'node:path'

/** A line of an ignore file that means nothing. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
  readonly code = 'pattern'
}

const META = /[*?[\]\\]/

/** One rule of an ignore file. */
export class IgnorePattern {
  /** Whether it takes back what rules above it have left out. */
  readonly negated: boolean
  readonly #regexp: RegExp
  readonly #segments: readonly string[]
  readonly #hasClass: boolean

  private constructor(pattern: string, negated: boolean) {
    this.negated = negated
    this.#regexp = new RegExp(`^${translate(pattern)}$`, 'su')
    this.#segments = pattern.split('/')
    this.#hasClass = pattern.includes('[')
  }

  /** Reads a line; comments and blank lines are no rule. Throws {@link PatternError}. */
  static parse(line: string): IgnorePattern | undefined {
    if (line.startsWith('#')) return undefined
    const text = line.trim()
    if (text === '') return undefined
    const negated = text.startsWith('!')
    const bare = negated ? text.slice(1).trim() : text
    if (bare === '') throw new PatternError('"!" needs a pattern after it')
    return new IgnorePattern(clean(bare), negated)
  }

  /** Whether this very path is meant. */
  matches(path: string): boolean {
    return this.#regexp.test(path)
  }

  /** Whether a path inside of a folder can be meant, though the folder itself is not. */
  mayMatchInside(folder: string): boolean {
    // A class can stand for a slash.
    if (this.#hasClass) return true
    const parts = folder.split('/')
    for (const [index, part] of parts.entries()) {
      const segment = this.#segments[index]
      if (segment === undefined) return false
      if (segment.includes('**')) return true
      if (META.test(segment) ? !new RegExp(`^${translate(segment)}$`, 'su').test(part) : segment !== part) {
        return false
      }
    }
    return this.#segments.length > parts.length
  }
}

/** The shortest spelling of a path; the root of the context is `/`. */
function clean(pattern: string): string {
  const short = posix.normalize(pattern)
  const ended = short.length > 1 && short.endsWith('/') ? short.slice(0, -1) : short
  return ended.length > 1 && ended.startsWith('/') ? ended.slice(1) : ended
}

function translate(pattern: string): string {
  // `**name` without a slash means every path that ends so.
  const tail = pattern.slice(2)
  if (pattern.startsWith('**') && tail !== '' && !tail.startsWith('/') && !META.test(tail)) {
    return `.*${quote(tail)}`
  }
  const signs = [...pattern]
  let source = ''
  let at = 0
  while (at < signs.length) {
    const sign = signs[at] ?? ''
    at += 1
    if (sign === '*' && signs[at] === '*') {
      at += signs[at + 1] === '/' ? 2 : 1
      source += at >= signs.length ? '.*' : '(?:.*/)?'
    } else if (sign === '*') source += '[^/]*'
    else if (sign === '?') source += '[^/]'
    else if (sign === '[') {
      const [text, end] = readClass(signs, at)
      source += text
      at = end
    } else if (sign === '\\') {
      const next = signs[at]
      if (next === undefined) throw new PatternError('nothing stands after the last "\\"')
      source += quote(next)
      at += 1
    } else source += quote(sign)
  }
  return source
}

/** A class such as `[a-z]`, from behind its bracket on, and where it ends. */
function readClass(signs: readonly string[], start: number): readonly [string, number] {
  let at = start
  const negated = signs[at] === '^'
  if (negated) at += 1
  let source = ''
  const one = (): string => {
    const escaped = signs[at] === '\\'
    const sign = signs[escaped ? at + 1 : at]
    if (sign === undefined) throw new PatternError('"[" has no "]"')
    if (!escaped && (sign === '-' || sign === ']')) {
      throw new PatternError(`"${sign}" stands where "[…]" needs a character; write "\\${sign}"`)
    }
    at += escaped ? 2 : 1
    return sign
  }
  do {
    const low = one()
    if (signs[at] !== '-') source += quote(low)
    else {
      at += 1
      const high = one()
      if ((high.codePointAt(0) ?? 0) < (low.codePointAt(0) ?? 0)) {
        throw new PatternError(`"${low}-${high}" is no range`)
      }
      source += `${quote(low)}-${quote(high)}`
    }
  } while (signs[at] !== ']')
  return [`[${negated ? '^' : ''}${source}]`, at + 1]
}

function quote(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll('-', '\\x2d')
}
