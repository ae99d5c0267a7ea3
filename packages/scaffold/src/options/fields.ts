import type { Configuration } from '../configuration.ts'
import type { ScaffoldKey } from './option.ts'
import { SCAFFOLD_OPTIONS } from './table.ts'

/** A value as JSON has it; null is one that was not given. */
export type FieldValue = string | boolean | readonly string[] | null

/** A configuration in the words of the config file: complete, in the order of the table, and itself a config file. */
export function configurationFields(configuration: Configuration): Readonly<Record<string, FieldValue>> {
  return Object.fromEntries(SCAFFOLD_OPTIONS.map(({ key, field }) => [field, fieldValue(configuration, key)]))
}

/** What a configuration says for an option. */
export function fieldValue(configuration: Configuration, key: ScaffoldKey): FieldValue {
  if (key === 'name') return configuration.names.title
  // Only web bots can have a client, so that others cannot even say that they have none.
  if (key === 'clientFramework' && configuration.botType === 'telephony') return null
  return configuration[key] ?? null
}
