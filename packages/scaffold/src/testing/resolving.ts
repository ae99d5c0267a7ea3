import type { Configuration } from '../configuration.ts'
import type { FlagValues } from '../options/option.ts'
import { type Problem, problemLine } from '../resolve/problem.ts'
import { resolve } from '../resolve/resolve.ts'

/** The configuration of some options, which must be right. */
export function resolved(flags: FlagValues, config?: unknown): Configuration {
  const result = run(flags, config)
  if (!result.ok) throw new Error(result.problems.map(problemLine).join('\n'))
  return result.configuration
}

/** What is wrong with some options. */
export function problems(flags: FlagValues, config?: unknown): readonly Problem[] {
  const result = run(flags, config)
  return result.ok ? [] : result.problems
}

/** What was changed on the way. */
export function notices(flags: FlagValues, config?: unknown): readonly string[] {
  const result = run(flags, config)
  return result.ok ? result.notices : []
}

/** Resolves options, and a config file as a value or as it stands. */
export function run(flags: FlagValues, config?: unknown): ReturnType<typeof resolve> {
  const text = typeof config === 'string' ? config : JSON.stringify(config)
  return resolve({
    flags,
    directoryName: 'my-bot',
    ...(text === undefined ? {} : { configFile: { path: 'bot.json', text } }),
  })
}

/** What is wrong, in short. */
export function brief(flags: FlagValues, config?: unknown): readonly string[] {
  return problems(flags, config).map(
    ({ code, flag, field }) => `${code} ${flag === '--config' ? field : flag}`,
  )
}
