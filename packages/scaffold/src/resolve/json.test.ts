import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, readJson } from './json.ts'

function plain(value: Json): unknown {
  if (value instanceof Map) return [...value].map(([key, item]) => [key, plain(item)])
  return Array.isArray(value) ? value.map(plain) : value
}

function entries(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(entries)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value).map(([key, item]) => [key, entries(item)])
}

describe('readJson', () => {
  it('reads what the built-in reader reads', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 2, '\t'), (text, space) => {
        const pretty = JSON.stringify(JSON.parse(text), null, space)
        const result = readJson(pretty)
        if (!('value' in result)) throw new Error(`${result.reason} in ${pretty}`)
        // Keys like "1" change their place in an object, but not in a map.
        expect(plain(result.value)).toEqual(entries(JSON.parse(pretty)))
      }),
    )
  })

  it('takes nothing that the built-in reader does not take, and the other way round', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '"\\u00e9"',
      '"\\x"',
      '"\u007f"',
      '1',
      '-0',
      '01',
      '1.',
      '1e5',
      'true',
      'nul',
      ' ',
      '\n',
      '\t',
      "'",
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('')
        const result = readJson(text)
        const isTwice = !('value' in result) && result.reason.includes('twice')
        expect('value' in result || isTwice).toBe(isJson(text))
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['', 1, 1, 'it ends too early'],
    ['{"a": 1,}', 1, 9, 'a key in double quotes is expected here'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'a comma or } is expected here'],
    ['{"a" 1}', 1, 6, 'a colon is expected here'],
    ['{"a": nope}', 1, 7, 'a value is expected here'],
    ['[1 2]', 1, 4, 'a comma or ] is expected here'],
    ['{"a": "x', 1, 7, 'this text does not end, or has a character that needs a backslash'],
    ['{"a": 1} x', 1, 10, 'there is more after the end'],
    ['{"a": 1, "a": 2}', 1, 10, 'the key "a" is there twice'],
    ['{"a": ', 1, 7, 'it ends too early'],
    ['\uFEFF{"a" 1}', 1, 6, 'a colon is expected here'],
    ['['.repeat(100_000), 1, 66, 'it is nested more than 64 levels deep'],
  ])('mistake %# has a place', (text, line, column, reason) => {
    expect(readJson(text)).toEqual({ line, column, reason })
  })

  it('skips the mark that some editors write, and has no special keys', () => {
    expect(readJson('\uFEFF{"__proto__": 1}')).toEqual({ value: new Map([['__proto__', 1]]) })
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
