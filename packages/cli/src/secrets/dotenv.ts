import { MAX_SECRET_LENGTH, secretKeyName } from '@botcli/protocol/cloud'

/** A variable of a file. */
export interface Variable {
  readonly name: string
  readonly value: string
}

/** What a file of variables says, and everything in it that means nothing. Problems never tell a value. */
export interface ParsedVariables {
  /** Of several with the same name, the last one. */
  readonly variables: readonly Variable[]
  readonly problems: readonly string[]
}

const ASSIGNMENT = /^\s*(?:export\s+)?([^\s=#'"]+)\s*=[^\S\n]*/
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' }

/**
 * Reads a file of variables as bots do: `NAME=value`, `export` in front, comments, quotes of either kind, values over several
 * lines between quotes, `\n` and the like between double ones. Nothing is put in for `${NAME}`.
 */
export function parseDotenv(text: string): ParsedVariables {
  const source = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const found = new Map<string, string>()
  const problems: string[] = []
  let at = 0
  let line = 1
  while (at < source.length) {
    const start = line
    const rest = source.slice(at)
    const end = rest.indexOf('\n') < 0 ? rest.length : rest.indexOf('\n')
    const first = rest.slice(0, end)
    let taken = first
    if (!/^\s*(?:#|$)/.test(first)) {
      const assignment = ASSIGNMENT.exec(first)
      const name = assignment?.[1]
      if (assignment === null || name === undefined) problems.push(`line ${start}: It is not NAME=VALUE.`)
      else {
        const value = readValue(rest.slice(assignment[0].length))
        taken = rest.slice(0, assignment[0].length + value.length)
        const problem = value.problem ?? problemOf({ name, value: value.text })
        if (problem === undefined) found.set(name, value.text)
        else problems.push(`line ${start}: ${problem}`)
      }
    }
    line += taken.split('\n').length
    at += taken.length + 1
  }
  return { variables: [...found].map(([name, value]) => ({ name, value })), problems }
}

/** Why a variable cannot be kept, if it cannot. */
export function problemOf({ name, value }: Variable): string | undefined {
  if (!secretKeyName.safeParse(name).success) {
    // What stands there may be a piece of a value.
    return 'What stands before = is no name of a variable: up to 64 letters, digits and _, no digit first.'
  }
  if (value.length > MAX_SECRET_LENGTH)
    return `The value of ${name} has more than ${MAX_SECRET_LENGTH} characters.`
  return value.includes('\0') ? `The value of ${name} has a zero byte.` : undefined
}

interface ReadValue {
  readonly text: string
  /** How much of the source it takes, up to the end of its last line. */
  readonly length: number
  readonly problem?: string
}

function readValue(source: string): ReadValue {
  const quote = source[0]
  if (quote !== '"' && quote !== "'" && quote !== '`') return readBare(source)
  const pattern = quote === '"' ? /^"((?:[^"\\]|\\[\s\S])*)"/ : new RegExp(`^${quote}([^${quote}]*)${quote}`)
  const [whole, inner] = pattern.exec(source) ?? []
  if (whole === undefined || inner === undefined) {
    return { ...readBare(source), problem: `The ${quote} that it begins with has no other one.` }
  }
  const after = lineOf(source.slice(whole.length))
  const length = whole.length + after.length
  if (!/^\s*(?:#.*)?$/.test(after))
    return { text: '', length, problem: 'Something stands behind the last quote.' }
  const text =
    quote === '"' ? inner.replaceAll(/\\([nrt"\\$])/g, (_, sign: string) => ESCAPES[sign] ?? sign) : inner
  return { text, length }
}

function readBare(source: string): ReadValue {
  const line = lineOf(source)
  return { text: line.replace(/(?:^|\s)#.*$/, '').trim(), length: line.length }
}

function lineOf(source: string): string {
  const end = source.indexOf('\n')
  return end < 0 ? source : source.slice(0, end)
}
