import type { JournalLine } from '@botcli/protocol'

/** What has a place of its own in an entry, or says nothing to its readers. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['time', 'level', 'msg', 'sessionId', 'from'])
/** Values that can be read without quotes. */
const PLAIN = /^[\w@./:+•[\]-]+$/
const INDENT = '    '

/** A line of an instance's log as people read it: the message, its fields as `name=value`, and stacks on lines of their own. */
export function journalText(line: JournalLine): string {
  const parts = [printable(line.msg)]
  const blocks: string[] = []
  for (const [name, value] of Object.entries(line)) {
    if (OWN_FIELDS.has(name) || value === undefined) continue
    const stack = stackOf(value)
    if (stack !== undefined) blocks.push(stack)
    else if (typeof value === 'string' && value.includes('\n')) blocks.push(`${name}: ${value}`)
    else parts.push(`${printable(name)}=${spell(value)}`)
  }
  const tail = blocks.map((block) => `\n${INDENT}${indented(printable(block.trimEnd()))}`)
  return `${parts.join(' ')}${tail.join('')}`
}

/** Callers and bots decide part of what is logged; they must not be able to steer the terminal of whoever reads it. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
  return text.replaceAll('\r\n', '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
}

function stackOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('stack' in value)) return undefined
  if (typeof value.stack === 'string' && value.stack !== '') return value.stack
  return 'message' in value && typeof value.message === 'string' ? value.message : undefined
}

function spell(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return value
  return printable(json(value))
}

/** A bot can nest a value deeper than it can be spelled. */
function json(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return '…'
  }
}

function indented(text: string): string {
  return text.replaceAll('\n', `\n${INDENT}`)
}
