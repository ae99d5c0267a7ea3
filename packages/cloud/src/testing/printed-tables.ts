import { BUILD_FAILURES, CLOUD_ERRORS } from '@botcli/protocol/cloud'
import * as z from 'zod'
import { allRoutes } from '../api/all-routes.ts'
import { openApiOf } from '../api/openapi.ts'
import { configSchema } from '../config.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema
type Rows = readonly (readonly string[])[]

const MIB = 1024 * 1024
/** Every route that needs a key can give these, so they are not told for each. */
const COMMON_ERRORS = new Set(['401', '403', '500', '503'])

/** The tables of `docs/cloud.md` that are printed from the code, by the names of their marks. */
export function printedTables(): Readonly<Record<string, string>> {
  return {
    config: table(['field', 'default', 'allowed', 'meaning'], configRows()),
    routes: table(['route', 'what it does', 'answers', 'refuses'], routeRows()),
    errors: table(['code', 'status', 'meaning'], errorRows()),
    failures: table(['code', 'meaning'], failureRows()),
  }
}

/** A text with the tables between its marks as the code has them now. Throws where a mark is missing. */
export function withTables(text: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((before, [name, printed]) => {
    const begin = `<!-- printed: ${name} -->\n`
    const end = `<!-- end: ${name} -->`
    const from = before.indexOf(begin)
    const to = before.indexOf(end)
    if (from < 0 || to < from) throw new Error(`There is no place for the table ${name}.`)
    return `${before.slice(0, from + begin.length)}\n${printed}\n${before.slice(to)}`
  }, text)
}

function errorRows(): Rows {
  return Object.entries(CLOUD_ERRORS).map(([code, { status, meaning }]) => [
    `\`${code}\``,
    `${status}`,
    meaning,
  ])
}

function failureRows(): Rows {
  return Object.entries(BUILD_FAILURES).map(([code, meaning]) => [`\`${code}\``, meaning])
}

function configRows(): Rows {
  const rowsOf = (schema: JsonSchema, above: string): Rows =>
    Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
      if (typeof field === 'boolean') return []
      const name = `${above}${key}`
      if (field.type === 'object') return rowsOf(field, `${name}.`)
      return [[`\`${name}\``, defaultOf(field), allowedIn(field), field.description ?? '']]
    })
  return rowsOf(z.toJSONSchema(configSchema, { io: 'input' }), '')
}

function defaultOf({ default: value }: JsonSchema): string {
  if (value === undefined) return 'none'
  return typeof value === 'number' ? numberText(value) : `\`${JSON.stringify(value)}\``
}

function allowedIn({ type, minimum, maximum, minItems, items, format }: JsonSchema): string {
  if (type === 'integer') {
    const bounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
    return bounded
      ? `${numberText(minimum ?? 0)} to ${numberText(maximum)}`
      : `from ${numberText(minimum ?? 0)} on`
  }
  if (type === 'array') {
    const words = typeof items === 'object' && !Array.isArray(items) ? (items.enum ?? []) : []
    const most = words.length > 0 ? ` of ${words.map((word) => `\`${word}\``).join(', ')}` : ''
    return `${minItems ?? 0} or more${most}`
  }
  return format === 'uri' ? 'an http or https address' : `${type}`
}

/** Sizes are set in bytes and read in MiB. */
function numberText(value: number): string {
  return value >= MIB && value % MIB === 0 ? `${value} (${value / MIB} MiB)` : `${value}`
}

function routeRows(): Rows {
  // Only what the routes say of themselves is read; nothing is called.
  const routes = allRoutes({} as never)
  const operations = new Map(Object.entries(openApiOf(routes).paths as Readonly<Record<string, unknown>>))
  return routes.map(({ method, path, summary, auth }) => {
    const methods = operations.get(path) as Readonly<Record<string, { readonly responses: object }>>
    const statuses = Object.keys(methods[method.toLowerCase()]?.responses ?? {})
    const refusals = statuses.filter((status) => status >= '400' && !COMMON_ERRORS.has(status))
    const who = auth === 'upload' ? ' Needs no key.' : ''
    const answers = statuses.filter((status) => status < '400')
    return [`\`${method} ${path}\``, `${summary}${who}`, answers.join(', '), refusals.join(', ') || 'none']
  })
}

function table(heads: readonly string[], rows: Rows): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  return [line(heads), `|${'---|'.repeat(heads.length)}\n`, ...rows.map(line)].join('')
}
