import { parse } from 'smol-toml'
import * as z from 'zod'

/** The line on which a key is first said. Values have no places after parsing, so that the file is read again line by line. */
export function lineOf(path: readonly PropertyKey[], toml: string): number {
  const keys = path.filter((step) => typeof step !== 'number')
  const lines = toml.split('\n')
  let start = 1
  for (let count = 1; count <= lines.length; count += 1) {
    let value: unknown
    try {
      value = parse(lines.slice(0, count).join('\n'))
    } catch {
      // Something goes over several lines.
      continue
    }
    for (const key of keys) {
      value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
    }
    if (value !== undefined) return start
    start = count + 1
  }
  return start
}

/** The names that a section may have. */
export function keysOf(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  const [step, ...rest] = path
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  if (!(inner instanceof z.ZodObject)) return []
  if (step === undefined) return Object.keys(inner.shape)
  const next: unknown = inner.shape[String(step)]
  return next instanceof z.ZodType ? keysOf(next, rest) : []
}
