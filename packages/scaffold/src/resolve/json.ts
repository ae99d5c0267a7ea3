/** A value of JSON. Objects are maps, so that no key of theirs can be special. */
export type Json = string | number | boolean | null | readonly Json[] | ReadonlyMap<string, Json>

/** What was read, or where and why it could not be. */
export type JsonResult =
  | { readonly value: Json }
  | { readonly line: number; readonly column: number; readonly reason: string }

const MAX_DEPTH = 64
const SPACE = /[ \t\r\n]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y
// A control character, an unknown escape and the end of the line all end the match before the closing quote.
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})|[\x7f-\x9f])*"/uy

class Mistake extends Error {
  readonly at: number

  constructor(at: number, reason: string) {
    super(reason)
    this.at = at
  }
}

/** Reads JSON as the standard has it. Unlike the built-in reader it always says where a mistake is, and takes no key twice. */
export function readJson(text: string): JsonResult {
  try {
    return { value: new Reader(text).whole() }
  } catch (error) {
    if (!(error instanceof Mistake)) throw error
    const before = text.slice(startOf(text), error.at).split('\n')
    return { line: before.length, column: (before.at(-1) ?? '').length + 1, reason: error.message }
  }
}

/** Some editors put a mark in front that is no part of the text. */
function startOf(text: string): number {
  return text.startsWith('\uFEFF') ? 1 : 0
}

class Reader {
  readonly #text: string
  #at: number

  constructor(text: string) {
    this.#text = text
    this.#at = startOf(text)
  }

  whole(): Json {
    this.#space()
    const value = this.#value(0)
    this.#space()
    if (this.#at < this.#text.length) this.#fail('there is more after the end')
    return value
  }

  #value(depth: number): Json {
    if (depth > MAX_DEPTH) this.#fail(`it is nested more than ${MAX_DEPTH} levels deep`)
    if (this.#take('{')) return this.#object(depth)
    if (this.#take('[')) return this.#list(depth)
    if (this.#text[this.#at] === '"') return this.#string()
    const word = this.#match(WORD)
    if (word !== undefined) return word === 'null' ? null : word === 'true'
    const number = this.#match(NUMBER)
    if (number !== undefined) return Number(number)
    return this.#fail('a value is expected here')
  }

  #object(depth: number): ReadonlyMap<string, Json> {
    const entries = new Map<string, Json>()
    this.#space()
    if (this.#take('}')) return entries
    for (;;) {
      const start = this.#at
      if (this.#text[start] !== '"') this.#fail('a key in double quotes is expected here')
      const key = this.#string()
      if (entries.has(key)) throw new Mistake(start, `the key ${JSON.stringify(key)} is there twice`)
      this.#space()
      if (!this.#take(':')) this.#fail('a colon is expected here')
      this.#space()
      entries.set(key, this.#value(depth + 1))
      this.#space()
      if (this.#take('}')) return entries
      if (!this.#take(',')) this.#fail('a comma or } is expected here')
      this.#space()
    }
  }

  #list(depth: number): readonly Json[] {
    const items: Json[] = []
    this.#space()
    if (this.#take(']')) return items
    for (;;) {
      items.push(this.#value(depth + 1))
      this.#space()
      if (this.#take(']')) return items
      if (!this.#take(',')) this.#fail('a comma or ] is expected here')
      this.#space()
    }
  }

  #string(): string {
    const source = this.#match(STRING)
    if (source === undefined)
      return this.#fail('this text does not end, or has a character that needs a backslash')
    return JSON.parse(source) as string
  }

  #space(): void {
    this.#match(SPACE)
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #fail(reason: string): never {
    throw new Mistake(this.#at, this.#at >= this.#text.length ? 'it ends too early' : reason)
  }
}
