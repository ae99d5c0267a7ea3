import { Excerpt } from './excerpt.ts'
import { HIDDEN, maskField } from './sensitive-field.ts'
import { hideSensitive } from './sensitive-text.ts'

/** Takes out of a log what must not be in it. */
export interface Redactor {
  /** Cleans text, and cuts it when it is very long. */
  text(text: string): string
  /** Cleans a value under its field name; the result is plain JSON of bounded size. */
  value(name: string, value: unknown): unknown
}

const MAX_TEXT = 16 * 1024
const MIN_MARGIN = 200
const MAX_DEPTH = 5
const MAX_ENTRIES = 100
const MAX_SECRETS = 500
const MIN_SECRET_LENGTH = 8

const SECRET_VARIABLE = /KEY|TOKEN|SECRET|PASSWORD/i
/** The values of an environment that must never be seen, known by the names of their variables. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = new Set<string>()
  for (const [name, value] of Object.entries(env)) {
    if (value && value.length >= MIN_SECRET_LENGTH && SECRET_VARIABLE.test(name)) values.add(value)
  }
  return [...values]
}

/** Makes a redactor that also knows these values, wherever they occur. */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const { pattern, longest } = knownSecrets(secrets)
  // What the end of a long text cuts through is not recognized, so that much of the end is never shown.
  const margin = Math.max(MIN_MARGIN, longest)
  const hide = (text: string): string => hideSensitive(pattern ? text.replace(pattern, HIDDEN) : text)
  const text = (input: string): string => {
    if (input.length <= MAX_TEXT) return hide(input)
    const seen = input.slice(0, MAX_TEXT + margin)
    const clean = hide(seen).slice(0, seen.length < input.length ? -margin : undefined)
    return `${clean.slice(0, MAX_TEXT)}… (${input.length} characters)`
  }
  return { text, value: (name, value) => cleanValue(text, name, value, 0) }
}

/** Secrets as they are, and as they look inside JSON and inside a URL. The longest is tried first. */
function knownSecrets(secrets: readonly string[]): { readonly pattern?: RegExp; readonly longest: number } {
  const forms = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .slice(0, MAX_SECRETS)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  if (forms.length === 0) return { longest: 0 }
  const escaped = [...new Set(forms)]
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return {
    pattern: new RegExp(escaped.join('|'), 'g'),
    longest: Math.max(...forms.map(({ length }) => length)),
  }
}

function cleanValue(text: (input: string) => string, name: string, value: unknown, depth: number): unknown {
  if (typeof value === 'string') return maskField(name, value) ?? text(value)
  if (typeof value === 'number') return maskField(name, value) ?? value
  if (value === null || value === undefined || typeof value === 'boolean') return value
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object') return `[${typeof value}]`
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (value instanceof Error)
    return { name: value.name, message: text(value.message), stack: text(value.stack ?? '') }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  if (value instanceof Excerpt) return value.cut(text)
  if (value instanceof URL) return text(value.href)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) {
    return value.slice(0, MAX_ENTRIES).map((item) => cleanValue(text, name, item, depth + 1))
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_ENTRIES)
      .map(([key, item]) => [text(key), cleanValue(text, key, item, depth + 1)]),
  )
}
