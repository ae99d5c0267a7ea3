import { nearest } from '../nearest.ts'
import { allowedValues } from '../options/allowed.ts'
import type { ScaffoldKey, ScaffoldOption } from '../options/option.ts'
import { SCAFFOLD_OPTIONS } from '../options/table.ts'
import { type Json, readJson } from './json.ts'
import { type Problem, quoted } from './problem.ts'

/** A config file as it was found. */
export interface ConfigFile {
  /** As the user wrote it, for messages. */
  readonly path: string
  readonly text: string
}

/** A value of an option, of the right type. */
export type GivenValue = string | boolean | readonly string[]

/** What a config file says. */
export interface ConfigValues {
  readonly values: ReadonlyMap<ScaffoldKey, GivenValue>
  /** Options that it has something for, rightly or wrongly; of one that cannot be read nobody knows. */
  readonly mentioned: ReadonlySet<ScaffoldKey> | 'unknown'
  readonly problems: readonly Problem[]
}

/** Many times what all fields together take. */
/** The longest config file, in bytes. */
export const MAX_CONFIG_BYTES = 64 * 1024

/** Reads a config file by the option table. */
export function readConfig(file: ConfigFile): ConfigValues {
  const content = readEntries(file)
  if ('problem' in content) return { values: new Map(), mentioned: 'unknown', problems: [content.problem] }
  const values = new Map<ScaffoldKey, GivenValue>()
  const mentioned = new Set<ScaffoldKey>()
  const problems: Problem[] = []
  for (const [key, value] of content.entries) {
    const option = SCAFFOLD_OPTIONS.find(({ field }) => field === key)
    if (option === undefined) {
      problems.push(unknownKey(key, file))
      continue
    }
    if (value === null) continue
    mentioned.add(option.key)
    const given = asGiven(option, value)
    if (given === undefined) problems.push(wrongType(option, value, file))
    else values.set(option.key, given)
  }
  return { values, mentioned, problems }
}

function readEntries({
  path,
  text,
}: ConfigFile): { readonly entries: ReadonlyMap<string, Json> } | { readonly problem: Problem } {
  const about = { field: 'config', flag: '--config', value: path }
  if (text.length > MAX_CONFIG_BYTES) {
    const message = `${path} is no config file: it is longer than 64 KiB.`
    return { problem: { ...about, code: 'bad_json', message } }
  }
  const result = readJson(text)
  if (!('value' in result)) {
    const message = `${path} is not JSON: line ${result.line}, column ${result.column}: ${result.reason}.`
    return { problem: { ...about, code: 'bad_json', message } }
  }
  if (result.value instanceof Map) return { entries: result.value }
  const message = `${path} must be a JSON object, not ${nameOf(result.value)}.`
  return { problem: { ...about, code: 'wrong_type', message } }
}

function asGiven({ kind }: ScaffoldOption, value: Json): GivenValue | undefined {
  if (kind === 'toggle') return typeof value === 'boolean' ? value : undefined
  if (kind !== 'choices') return typeof value === 'string' ? value : undefined
  if (!Array.isArray(value)) return undefined
  const items: readonly Json[] = value
  const texts = items.filter((item) => typeof item === 'string')
  return texts.length === items.length ? texts : undefined
}

function unknownKey(key: string, { path }: ConfigFile): Problem {
  // People take the names of flags for keys.
  const byFlag = SCAFFOLD_OPTIONS.find(({ flag }) => flag === key.toLowerCase().replaceAll('_', '-'))
  const fields = SCAFFOLD_OPTIONS.map(({ field }) => field)
  const suggestion = byFlag?.field ?? nearest(key, fields)
  return {
    field: key,
    flag: '--config',
    code: 'unknown_key',
    message: `${path} has the key ${quoted(key)}, which is unknown.`,
    allowed: fields,
    ...(suggestion === undefined ? {} : { suggestion }),
  }
}

function wrongType(option: ScaffoldOption, value: Json, { path }: ConfigFile): Problem {
  const wanted = { toggle: 'true or false', choices: 'a list of words', choice: 'a text', text: 'a text' }[
    option.kind
  ]
  const suggestion = suggestedValue(option, value)
  const allowed = allowedValues(option)
  return {
    field: option.field,
    flag: `--${option.flag}`,
    code: 'wrong_type',
    value: value instanceof Map ? {} : value,
    message: `${option.field} in ${path} must be ${wanted}, ${whatInstead(value)}.`,
    ...(allowed === undefined ? {} : { allowed }),
    ...(suggestion === undefined ? {} : { suggestion }),
  }
}

function suggestedValue({ kind }: ScaffoldOption, value: Json): string | undefined {
  if (typeof value !== 'string') return undefined
  if (kind === 'choices') return JSON.stringify(value.split(/[\s,]+/).filter((word) => word !== ''))
  if (kind !== 'toggle') return undefined
  if (/^(?:true|yes|on|1)$/i.test(value)) return 'true'
  return /^(?:false|no|off|0)$/i.test(value) ? 'false' : undefined
}

function whatInstead(value: Json): string {
  if (!Array.isArray(value)) return `not ${nameOf(value)}`
  const items: readonly Json[] = value
  const wrong = items.findIndex((item) => typeof item !== 'string')
  return wrong < 0 ? 'not a list' : `but its entry ${wrong + 1} is ${nameOf(items[wrong] ?? null)}`
}

function nameOf(value: Json): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return `the text ${quoted(value)}`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return Array.isArray(value) ? 'a list' : 'an object'
}
