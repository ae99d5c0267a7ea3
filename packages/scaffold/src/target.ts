import type { FlagValues } from './options/option.ts'
import { QUICKSTART, QUICKSTART_DIRECTORY } from './resolve/quickstart.ts'

/** What a command line asks for: a folder, and who says what goes into it. */
export type Target =
  /** The ready-made bot. */
  | { readonly kind: 'quickstart'; readonly directory: string }
  /** The options say everything; nothing is asked. */
  | { readonly kind: 'options'; readonly directory: string }
  /** The user is asked, also for the folder if there is none. */
  | { readonly kind: 'ask'; readonly directory?: string }

/** What is on a command line, as far as it decides about the target. */
export interface TargetInput {
  readonly directory?: string
  readonly flags: FlagValues
  readonly configPath?: string
  readonly dryRun: boolean
}

/** Decides where a project goes. `./quickstart` is a folder of that name. */
export function chooseTarget({ directory, flags, configPath, dryRun }: TargetInput): Target {
  if (directory === QUICKSTART) return { kind: 'quickstart', directory: QUICKSTART_DIRECTORY }
  // A dry run is for programs; asking would be no answer.
  const hasOptions = Object.values(flags).some((value) => value !== undefined)
  if (hasOptions || configPath !== undefined || dryRun)
    return { kind: 'options', directory: directory ?? '.' }
  return directory === undefined ? { kind: 'ask' } : { kind: 'ask', directory }
}
