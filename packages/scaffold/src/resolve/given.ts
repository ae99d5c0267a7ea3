import type { FlagValues, ScaffoldKey, ScaffoldOption } from '../options/option.ts'
import { SCAFFOLD_OPTIONS } from '../options/table.ts'
import type { ConfigFile, ConfigValues, GivenValue } from './read-config.ts'

/** A value with where it came from. */
export interface Given {
  readonly value: GivenValue
  readonly from: 'flag' | 'file'
  /** How messages call the option: as the user wrote it. */
  readonly spelled: string
}

/** Options that were given, each once: what was typed wins over the file. */
export type GivenOptions = ReadonlyMap<ScaffoldKey, Given>

/** Puts what was typed over what the file says. */
export function gather(
  flags: FlagValues,
  file: ConfigFile | undefined,
  config: ConfigValues | undefined,
): GivenOptions {
  return new Map(
    SCAFFOLD_OPTIONS.flatMap((option): (readonly [ScaffoldKey, Given])[] => {
      const typed = flags[option.key]
      if (typed !== undefined) {
        return [[option.key, { value: typed, from: 'flag', spelled: spellFlag(option, typed) }]]
      }
      const written = config?.values.get(option.key)
      if (written === undefined || file === undefined) return []
      return [[option.key, { value: written, from: 'file', spelled: `${option.field} in ${file.path}` }]]
    }),
  )
}

function spellFlag({ flag }: ScaffoldOption, value: GivenValue): string {
  return value === false ? `--no-${flag}` : `--${flag}`
}
