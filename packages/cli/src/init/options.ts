import { COMMAND_OPTIONS, type FlagValues, SCAFFOLD_OPTIONS, type ScaffoldOption } from '@botcli/scaffold'
import { flag, type Option, type OptionTable, optional, repeatable, toggle } from '../options/option.ts'
import type { Parsed } from '../options/parse.ts'

/** Options that describe the project. */
export const PROJECT_OPTIONS: OptionTable = tableOf('project')

/** Options that add something to the project. */
export const FEATURE_OPTIONS: OptionTable = tableOf('features')

/** Options that say what the command does. */
export const RUN_OPTIONS: OptionTable = Object.fromEntries(
  COMMAND_OPTIONS.map(({ key, flag: name, argument, ...row }) => [
    key,
    argument === undefined
      ? flag({ name, ...row })
      : optional({ name, argument, ...row, parse: (text) => text }),
  ]),
)

/** Every option of `botcli init`, made from the tables of the scaffolder. */
export const INIT_OPTIONS: OptionTable = { ...PROJECT_OPTIONS, ...FEATURE_OPTIONS, ...RUN_OPTIONS }

/** What a command line asks of the command itself. */
export interface InitRequest {
  readonly flags: FlagValues
  readonly configPath?: string
  readonly dryRun: boolean
  readonly listOptions: boolean
  readonly force: boolean
  readonly overwriteGuide: boolean
  readonly json: boolean
}

/** Sorts what was parsed. Whether values are right is for the scaffolder to say, all at once. */
export function requestOf({ values, given }: Parsed<OptionTable>): InitRequest {
  const flags = Object.fromEntries(
    SCAFFOLD_OPTIONS.filter(({ key }) => given.has(key)).map(({ key }) => [key, values[key]]),
  )
  const { config } = values
  return {
    flags,
    ...(typeof config === 'string' ? { configPath: config } : {}),
    dryRun: values.dryRun === true,
    listOptions: values.listOptions === true,
    force: values.force === true,
    overwriteGuide: values.overwriteGuide === true,
    json: values.json === true,
  }
}

function tableOf(group: ScaffoldOption['group']): OptionTable {
  return Object.fromEntries(
    SCAFFOLD_OPTIONS.filter((option) => option.group === group).map((option) => [option.key, rowOf(option)]),
  )
}

function rowOf(option: ScaffoldOption): Option<unknown> {
  const { flag: name, short, help, argument = '', on } = option
  const row = { name, help, argument, ...(short === undefined ? {} : { short }) }
  const standard = option.default === undefined ? {} : { default: option.default }
  switch (option.kind) {
    case 'toggle':
      return toggle({ name, help, default: on ? 'on' : 'off' })
    case 'choices':
      return repeatable({ ...row, ...standard, parse: (text) => [text] })
    default:
      return optional({ ...row, ...standard, parse: (text) => text })
  }
}
