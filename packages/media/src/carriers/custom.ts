/** More than any carrier lets its users give. */
const MAX_PARAMETERS = 100
const MAX_NAME_CHARACTERS = 256
const MAX_VALUE_CHARACTERS = 1000

/** What a call carries for the bot, as text; what is nested is no parameter. */
export function customOf(parameters: Readonly<Record<string, unknown>> | undefined): Record<string, string> {
  const plain = Object.entries(parameters ?? {})
    .filter(([name]) => name.length <= MAX_NAME_CHARACTERS)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => [name, String(value)] as const)
    .filter(([, text]) => text.length <= MAX_VALUE_CHARACTERS)
  return Object.fromEntries(plain.slice(0, MAX_PARAMETERS))
}

/** Phone numbers, for carriers that do not tell them unless the call's parameters do. */
export function numbersOf(custom: Readonly<Record<string, string>>): { from?: string; to?: string } {
  const from = custom.from ?? custom.From ?? custom.from_number
  const to = custom.to ?? custom.To ?? custom.to_number
  return { ...(from && { from }), ...(to && { to }) }
}

/** Headers in one line: `a=1;b=2`, `{a: 1, b: 2}`, or JSON. */
export function headersOf(line: string | undefined): Record<string, string> {
  if (line === undefined) return {}
  const json = jsonObject(line)
  if (json !== undefined) return customOf(json)
  const pairs = line
    .replace(/^\s*\{|\}\s*$/g, '')
    .split(/[;,]/)
    .flatMap((pair) => {
      const at = pair.search(/[=:]/)
      const name = pair.slice(0, Math.max(0, at)).trim()
      return /^\S+$/.test(name) ? [[name, pair.slice(at + 1).trim()] as const] : []
    })
  return customOf(Object.fromEntries(pairs))
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
