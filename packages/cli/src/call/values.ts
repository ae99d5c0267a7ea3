import {
  MISBEHAVIOUR_NAMES,
  MISBEHAVIOURS,
  type Misbehaviour,
  type MisbehaviourName,
} from '@botcli/media/phone'
import { nearest } from '@botcli/scaffold/nearest'
import { ValueError } from '../options/option.ts'

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 }

/** One misbehaviour and how much of it. */
export interface ChosenMisbehaviour {
  readonly name: MisbehaviourName
  readonly amount: number
}

/** A length of time between two others, in milliseconds. */
export function lengthOfTime(minMs: number, maxMs: number): (text: string) => number {
  return (text) => {
    const [, amount, unit = 's'] = /^(\d{1,7}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(text) ?? []
    const ms = Number(amount) * (UNIT_MS[unit] ?? 1)
    if (ms >= minMs && ms <= maxMs) return ms
    const range = `${spellTime(minMs)} to ${spellTime(maxMs)}`
    throw new ValueError(
      `must be from ${range}, written as ${minMs < 1000 ? '500ms, ' : ''}2.5s, 1m or 3 (seconds), not ${quoted(text)}.`,
    )
  }
}

/** A length of time as it is written on the command line. */
export function spellTime(ms: number): string {
  if (ms < 1000) return `${ms}ms`
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`
}

/** Keys of a phone. */
export function parseKeys(text: string): string {
  const keys = text.toUpperCase()
  if (/^[0-9A-D*#]{1,64}$/.test(keys)) return keys
  throw new ValueError(`must be 1 to 64 keys out of 0-9, A-D, * and #, not ${quoted(text)}.`)
}

/** A phone number, or whatever a carrier shows instead of one. */
export function parseNumber(text: string): string {
  if (/^[\w.+@:-]{1,128}$/.test(text)) return text
  throw new ValueError(`must be a phone number such as +15550100, not ${quoted(text)}.`)
}

/** A parameter of the call. */
export function parseParameter(text: string): readonly [string, string] {
  const [, name, value] = /^([^=\s]{1,256})=(.*)$/s.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new ValueError(`must be NAME=VALUE, not ${quoted(text)}.`)
}

/** A JSON object. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // What is no JSON is no object.
  }
  throw new ValueError(`must be a JSON object such as '{"plan":"gold"}', not ${quoted(text)}.`)
}

/** The name of a file. */
export function parseFile(text: string): string {
  if (text !== '') return text
  throw new ValueError('must be the name of a file.')
}

/** NAME or NAME=VALUE, by the table of misbehaviours. */
export function parseMisbehaviour(text: string): ChosenMisbehaviour {
  const [, word = text, value] = /^([^=]*)(?:=(.*))?$/.exec(text) ?? []
  const name = MISBEHAVIOUR_NAMES.find((one) => one === word)
  if (name === undefined) {
    const near = nearest(word, MISBEHAVIOUR_NAMES)
    const hint = near === undefined ? `must be one of ${MISBEHAVIOUR_NAMES.join(', ')}` : `must be ${near}`
    throw new ValueError(`${hint}, not ${quoted(word)}.`)
  }
  const row: Misbehaviour = MISBEHAVIOURS[name]
  if (value === undefined) return { name, amount: row.default }
  if (row.unit === undefined) throw new ValueError(`${name} takes no value.`)
  const units = row.unit === 'ms' ? 'ms|s' : row.unit
  const [, digits, unit] = new RegExp(`^(\\d{1,5}(?:\\.\\d{1,3})?)(${units})?$`).exec(value) ?? []
  const amount = Number(digits) * (row.unit === 'ms' && unit === 's' ? 1000 : 1)
  if (amount >= row.min && amount <= row.max) return { name, amount }
  throw new ValueError(
    `${name} must have a value from ${row.min} to ${row.max}${row.unit}, not ${quoted(value)}.`,
  )
}

/** The table of misbehaviours for the help. */
export function misbehavioursHelp(): string {
  const rows = MISBEHAVIOUR_NAMES.map((name) => {
    const row: Misbehaviour = MISBEHAVIOURS[name]
    const label = row.unit === undefined ? name : `${name}=${row.default}${row.unit}`
    return [label, row.help] as const
  })
  const width = Math.max(...rows.map(([label]) => label.length))
  return rows.map(([label, help]) => `  ${label.padEnd(width)}  ${help}`).join('\n')
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
