import {
  CALL_MODES,
  CLIENT_SERVERS,
  type Configuration,
  type ProjectNames,
  type ServiceCategory,
} from '../configuration.ts'
import { describeNames, makeNames } from '../names.ts'
import type { Draft } from '../options/conditions.ts'
import type { FlagValues, ScaffoldKey, ToggleKey } from '../options/option.ts'
import { optionByKey } from '../options/table.ts'
import { optionProblems } from './check.ts'
import { makeDraft, oneOf } from './draft.ts'
import { type GivenOptions, gather } from './given.ts'
import { overrule } from './overrule.ts'
import { type Problem, quoted } from './problem.ts'
import { type ConfigFile, readConfig } from './read-config.ts'
import { ruleProblems } from './rules.ts'

/** Everything that a project is resolved from. */
export interface ResolveInput {
  /** Only those that were typed. */
  readonly flags: FlagValues
  readonly configFile?: ConfigFile
  /** The name of the folder that the project will be in; it is empty for the root of a disk. */
  readonly directoryName: string
}

/** A configuration, or everything that keeps it from being one. */
export type Resolution =
  | {
      readonly ok: true
      readonly configuration: Configuration
      /** What was changed on the way, for people. */
      readonly notices: readonly string[]
    }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Makes a configuration of what was given. It never throws because of what the user wrote. */
export function resolve({ flags, configFile, directoryName }: ResolveInput): Resolution {
  const config = configFile === undefined ? undefined : readConfig(configFile)
  const all = gather(flags, configFile, config)
  // What a broken file says is not known, so that nothing can be said to be missing.
  const isUnknown = (key: ScaffoldKey): boolean =>
    !all.has(key) && (config?.mentioned === 'unknown' || config?.mentioned.has(key) === true)
  const { given, notices } = overrule(all, isUnknown)
  const draft = makeDraft(given, isUnknown)
  const name = nameOf(given, directoryName)
  const names = makeNames(name)
  const problems = [
    ...(config?.problems ?? []),
    ...(names === undefined && !isUnknown('name') ? [unusableName(name, given)] : []),
    ...optionProblems(given, draft, isUnknown),
    ...ruleProblems(given, draft),
  ]
  const configuration = names === undefined ? undefined : configure(names, given, draft)
  if (problems.length > 0 || configuration === undefined) return { ok: false, problems }
  const notice = describeNames(name, configuration.names)
  return { ok: true, configuration, notices: notice === undefined ? notices : [...notices, notice] }
}

function nameOf(given: GivenOptions, directoryName: string): string {
  const name = given.get('name')?.value
  return typeof name === 'string' ? name : directoryName
}

function unusableName(name: string, given: GivenOptions): Problem {
  const { field, flag } = optionByKey('name')
  const what = given.get('name')?.spelled ?? 'The name of the folder'
  return {
    field,
    flag: `--${flag}`,
    code: 'unusable_name',
    value: name,
    message: `${what} is ${quoted(name)}, of which no name for a project can be made. Give --${flag} with at least one letter (a to z) or digit.`,
  }
}

/** The configuration, once nothing is wrong with what was given. */
function configure(names: ProjectNames, given: GivenOptions, draft: Draft): Configuration | undefined {
  const { botType, transports, mode, clientFramework = 'none' } = draft
  if (botType === undefined || transports === undefined || mode === undefined) return undefined
  const video = textOf(given, 'video')
  const pstnMode = oneOf(CALL_MODES, given.get('pstnMode')?.value)
  const sipMode = oneOf(CALL_MODES, given.get('sipMode')?.value)
  const clientServer = oneOf(CLIENT_SERVERS, given.get('clientServer')?.value) ?? 'vite'
  const categories = mode === 'cascade' ? (['stt', 'llm', 'tts'] as const) : (['realtime'] as const)
  return {
    names,
    botType,
    transports,
    mode,
    ...Object.fromEntries(categories.map((category) => [category, textOf(given, category)])),
    ...(video === undefined ? {} : { video }),
    clientFramework,
    ...(clientFramework === 'none' ? {} : { clientServer }),
    ...(pstnMode === undefined ? {} : { pstnMode }),
    ...(sipMode === undefined ? {} : { sipMode }),
    recording: isOn(given, 'recording'),
    transcription: isOn(given, 'transcription'),
    videoInput: isOn(given, 'videoInput'),
    videoOutput: video !== undefined || isOn(given, 'videoOutput'),
    deployToCloud: isOn(given, 'deployToCloud'),
    noiseFilter: isOn(given, 'noiseFilter'),
    observability: isOn(given, 'observability'),
    evals: isOn(given, 'evals'),
  }
}

function textOf(given: GivenOptions, key: ServiceCategory): string | undefined {
  const value = given.get(key)?.value
  return typeof value === 'string' ? value : undefined
}

function isOn(given: GivenOptions, key: ToggleKey): boolean {
  const value = given.get(key)?.value
  return typeof value === 'boolean' ? value : optionByKey(key).on === true
}
