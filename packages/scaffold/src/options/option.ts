import type { ServiceCategory } from '../configuration.ts'
import type { ConditionName } from './conditions.ts'

/** The names of the options that describe a project, as our code spells them. */
export type TextKey =
  | 'name'
  | 'botType'
  | 'mode'
  | 'stt'
  | 'llm'
  | 'tts'
  | 'realtime'
  | 'video'
  | 'clientFramework'
  | 'clientServer'
  | 'pstnMode'
  | 'sipMode'
export type ToggleKey =
  | 'recording'
  | 'transcription'
  | 'videoInput'
  | 'videoOutput'
  | 'deployToCloud'
  | 'noiseFilter'
  | 'observability'
  | 'evals'
export type ScaffoldKey = TextKey | ToggleKey | 'transports'

/** One row of the option table: it drives flags, help, prompts, the config file and validation. */
export interface ScaffoldOption {
  readonly key: ScaffoldKey
  /** What it is, in a word or two. */
  readonly label: string
  /** Without the dashes. A toggle also has `no-` in front of it. */
  readonly flag: string
  /** One letter, without the dash. */
  readonly short?: string
  /** Its name in the config file and in the output of `--dry-run`. */
  readonly field: string
  /** A text, one word of a list, several of them, or yes and no. */
  readonly kind: 'text' | 'choice' | 'choices' | 'toggle'
  /** Where the help shows it. */
  readonly group: 'project' | 'features'
  /** What stands for the value in the help; a toggle has none. */
  readonly argument?: string
  readonly help: string
  /** What the wizard asks. */
  readonly question: string
  /** The words that are allowed, with what the wizard shows for them. */
  readonly values?: Readonly<Record<string, string>>
  /** The allowed words are the ids of these services. */
  readonly services?: ServiceCategory
  /** What holds when it is not given, for people. */
  readonly default?: string
  /** Of a toggle: what holds when it is not given. */
  readonly on?: boolean
  /** It must be given, where it applies. */
  readonly required?: boolean
  /** Where it has an effect; everywhere when left out. */
  readonly applies?: ConditionName
}

/** Options as they were typed: only those that were given. */
export type FlagValues = { readonly [K in TextKey]?: string } & { readonly [K in ToggleKey]?: boolean } & {
  readonly transports?: readonly string[]
}
