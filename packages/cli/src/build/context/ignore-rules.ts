import { ContextError } from './context-error.ts'
import { IgnorePattern, PatternError } from './ignore-pattern.ts'

/** Which rules a path or one of the folders above it has met, to go on from for what is inside of it. */
export type Met = readonly boolean[]

/** The rules of an ignore file, in their order: the last one that is met decides. */
export class IgnoreRules {
  readonly #patterns: readonly IgnorePattern[]

  constructor(patterns: readonly IgnorePattern[]) {
    this.#patterns = patterns
  }

  /** Reads an ignore file. All lines that are wrong are told at once. */
  static parse(text: string, name: string): IgnoreRules {
    const patterns: IgnorePattern[] = []
    const problems: string[] = []
    for (const [index, line] of text
      .replace(/^\uFEFF/, '')
      .split('\n')
      .entries()) {
      try {
        const pattern = IgnorePattern.parse(line)
        if (pattern) patterns.push(pattern)
      } catch (error) {
        if (!(error instanceof PatternError)) throw error
        problems.push(`${name}, line ${index + 1}: ${error.message}: ${JSON.stringify(line.trim())}.`)
      }
    }
    if (problems.length > 0) throw new ContextError('IGNORE_FILE_INVALID', problems.join('\n'))
    return new IgnoreRules(patterns)
  }

  /** These rules, and more behind them. */
  and(patterns: readonly IgnorePattern[]): IgnoreRules {
    return patterns.length === 0 ? this : new IgnoreRules([...this.#patterns, ...patterns])
  }

  /** Judges a path by itself and by what its folder has met. */
  judge(path: string, folder: Met | undefined): { readonly ignored: boolean; readonly met: Met } {
    let ignored = false
    const met = this.#patterns.map((pattern, index) => {
      // As Docker has it: a rule that would change nothing for a folder says nothing about what is inside of it.
      const isAsked = pattern.negated === ignored
      const isMet = folder?.[index] === true || (isAsked && pattern.matches(path))
      if (isMet) ignored = !pattern.negated
      return isMet
    })
    return { ignored, met }
  }

  /** Whether something inside of an ignored folder can be taken back. */
  mayKeepInside(folder: string): boolean {
    return this.#patterns.some((pattern) => pattern.negated && pattern.mayMatchInside(folder))
  }
}
