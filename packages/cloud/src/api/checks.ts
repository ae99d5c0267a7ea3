import * as z from 'zod'
import { CloudError } from '../errors.ts'

const MAX_PROBLEMS = 10
/** How numbers are spelled in a query, by their type. */
const NUMBERS: Readonly<Record<string, RegExp>> = {
  integer: /^-?\d{1,15}$/,
  number: /^-?\d{1,15}(?:\.\d{1,9})?$/,
}

/** Checks a body. */
export function checkBody<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw refusal('The request body is not valid', parsed.error.issues)
}

/** Checks one part of a path, and gives it as its schema spells it. */
export function checkParam(name: string, schema: z.ZodType<string>, value: string): string {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [name] }))
  throw refusal('The path is not valid', issues)
}

/** Checks a query: every parameter is known and comes once. */
export class QueryCheck {
  readonly #schema: z.ZodObject
  /** How the parameters that are numbers are spelled. */
  readonly #numbers: ReadonlyMap<string, RegExp>

  constructor(schema: z.ZodObject) {
    this.#schema = schema
    const { properties = {} } = z.toJSONSchema(schema, { io: 'input' })
    const spellings = Object.entries(properties).flatMap(([name, one]): [string, RegExp][] => {
      const type = typeof one === 'object' && one !== null && 'type' in one ? String(one.type) : ''
      const spelling = NUMBERS[type]
      return spelling === undefined ? [] : [[name, spelling]]
    })
    this.#numbers = new Map(spellings)
  }

  check(query: URLSearchParams): unknown {
    const values: Record<string, unknown> = Object.create(null)
    for (const [name, text] of query) {
      if (name in values) throw new CloudError('INVALID_REQUEST', `${shown(name)} was given more than once.`)
      values[name] = this.#numbers.get(name)?.test(text) ? Number(text) : text
    }
    const parsed = this.#schema.safeParse({ ...values })
    if (parsed.success) return parsed.data
    throw refusal('The query is not valid', parsed.error.issues)
  }
}

function refusal(title: string, issues: readonly z.core.$ZodIssue[]): CloudError {
  const problems = issues.flatMap((issue) => describe(issue, []))
  const more = problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : []
  const text = [...problems.slice(0, MAX_PROBLEMS), ...more].join('; ')
  return new CloudError('INVALID_REQUEST', `${title}: ${text}.`)
}

function describe(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): readonly string[] {
  const path = [...above, ...issue.path]
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    // Of the shapes that it could have had, the one that it comes nearest to.
    const [nearest = []] = issue.errors.toSorted((a, b) => a.length - b.length)
    return nearest.flatMap((inner) => describe(inner, path))
  }
  const at = path.map((part) => (typeof part === 'string' ? bounded(part) : String(part))).join('.')
  const message = messageOf(issue)
  return [at === '' ? message : `${at}: ${message}`]
}

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    return `unknown: ${issue.keys.slice(0, MAX_PROBLEMS).map(shown).join(', ')}`
  }
  if (issue.code === 'invalid_type') {
    return /received undefined$/.test(issue.message)
      ? `it is missing (${issue.expected})`
      : `it must be a ${issue.expected}`
  }
  if (issue.code === 'invalid_value') return `it must be one of ${issue.values.map(String).join(', ')}`
  if (issue.code === 'invalid_format')
    return issue.format === 'guid' || issue.format === 'uuid' ? 'it must be a UUID' : issue.message
  return issue.message
}

function shown(name: string): string {
  return JSON.stringify(bounded(name))
}

function bounded(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
