import {
  type Configuration,
  choicesOf,
  commandFor,
  configurationFields,
  envVariables,
  type FieldValue,
  SCAFFOLD_OPTIONS,
  type ScaffoldOption,
} from '@botcli/scaffold'
import type { Place } from '../place.ts'

/** What will be made, in lines, with the command that would make the same. */
export function summaryLines(place: Place, configuration: Configuration): readonly string[] {
  const fields = configurationFields(configuration)
  const rows = SCAFFOLD_OPTIONS.flatMap((option): (readonly [string, string])[] => {
    const text = describe(option, fields[option.field] ?? null)
    return text === undefined ? [] : [[option.label, text]]
  })
  const keys = envVariables(configuration).filter(({ required }) => required)
  const needed = keys.length === 0 ? 'none' : keys.map(({ name }) => name).join(', ')
  const all = [
    ['Folder', place.shown === '.' ? 'this one' : place.shown],
    ...rows,
    ['Keys needed', needed],
  ] as const
  const width = Math.max(...all.map(([label]) => label.length))
  return [
    ...all.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`),
    '',
    '  The same without questions:',
    commandFor(configuration, place.shown, place.name),
  ]
}

function describe(option: ScaffoldOption, value: FieldValue): string | undefined {
  if (value === null) return undefined
  if (typeof value === 'boolean') return value ? 'yes' : undefined
  const choices = choicesOf(option)
  const name = (word: string): string => choices?.find((choice) => choice.value === word)?.label ?? word
  return typeof value === 'string' ? name(value) : value.map(name).join(', ')
}
