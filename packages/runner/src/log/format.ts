import type { LogLevel, LogLine } from './line.ts'

const STYLES: Readonly<Record<LogLevel, { readonly label: string; readonly code: number }>> = {
  debug: { label: 'debug', code: 90 },
  info: { label: 'info ', code: 36 },
  warn: { label: 'warn ', code: 33 },
  error: { label: 'error', code: 31 },
}
const GREY = 90
const SHORT_ID = 8
const INDENT = '    '

/** One JSON object. The line's own keys win over fields of the same name. */
export function formatJson({ time, level, message, fields }: LogLine): string {
  const own = { time: time.toISOString(), level, msg: message }
  return `${JSON.stringify({ ...own, ...fields, ...own })}\n`
}

/** A line for people: time, level, session, message, fields; stacks and excerpts follow on lines of their own. */
export function formatPretty({ time, level, message, fields }: LogLine, color: boolean): string {
  const paint = (code: number, text: string) => (color ? `\u001b[${code}m${text}\u001b[39m` : text)
  const { sessionId, from, ...others } = fields
  const clock = time.toTimeString().slice(0, 8)
  const parts = [paint(GREY, clock), paint(STYLES[level].code, STYLES[level].label)]
  if (typeof sessionId === 'string') parts.push(paint(GREY, printable(sessionId.slice(0, SHORT_ID))))
  // Whose words these are comes before them, since they may have many lines.
  if (from !== undefined) parts.push(paint(GREY, `${printable(String(from))}:`))
  parts.push(indented(printable(message)))

  const blocks: string[] = []
  for (const [name, value] of Object.entries(others)) {
    if (value === undefined) continue
    const stack = stackOf(value)
    if (stack !== undefined) blocks.push(stack)
    else if (typeof value === 'string' && value.includes('\n')) blocks.push(`${name}: ${value}`)
    else parts.push(paint(GREY, `${printable(name)}=${spell(value)}`))
  }
  const tail = blocks.map((block) => `\n${INDENT}${paint(GREY, indented(printable(block.trimEnd())))}`)
  return `${parts.join(' ')}${tail.join('')}\n`
}

function stackOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('stack' in value)) return undefined
  if (typeof value.stack === 'string' && value.stack !== '') return value.stack
  return 'message' in value && typeof value.message === 'string' ? value.message : undefined
}

function spell(value: unknown): string {
  if (typeof value === 'string' && /^[\w@./:+•[\]-]+$/.test(value)) return value
  return printable(JSON.stringify(value))
}

function indented(text: string): string {
  return text.replaceAll('\n', `\n${INDENT}`)
}

/** Callers decide part of what is logged; they must not be able to steer the terminal. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
  return text.replaceAll('\r\n', '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '�')
}
