/** The command line or the environment is wrong. It holds everything that is, so that it can be mended in one go. */
export class UsageError extends Error {
  readonly code = 'usage'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'UsageError'
    this.problems = problems
  }
}
