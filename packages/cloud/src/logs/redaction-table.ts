import { setImmediate } from 'node:timers/promises'
import { secretSpellings } from './secret-spellings.ts'

/** So many characters at the end of a line, when they begin a secret, hold the line back; fewer do not give a secret away. */
export const TELLING_CHARACTERS = 4
const TABLE_BITS = 16
const PART_CHARACTERS = 128
/** Others get their turn after this long. */
const TURN_MS = 10

/**
 * What is to be kept out of logs, in every spelling that is known (see secretSpellings), ready to be looked for. It takes long to make when
 * secrets are long, and is then read by any number of redactors.
 */
export class RedactionTable {
  readonly #begins = new Uint8Array(2 ** TABLE_BITS)
  readonly #spellings = new Map<string, string[]>()

  private constructor() {}

  /** Makes a table of some secrets, in turns with everything else that is to be done. */
  static async of(secrets: Iterable<string>): Promise<RedactionTable> {
    const table = new RedactionTable()
    const known = new Set<string>()
    let begun = performance.now()
    for (const secret of secrets) {
      for (const spelling of secretSpellings(secret)) {
        for (const part of parts(spelling)) table.#add(part, known)
        if (performance.now() - begun < TURN_MS) continue
        await setImmediate()
        begun = performance.now()
      }
    }
    for (const others of table.#spellings.values()) others.sort()
    return table
  }

  get isEmpty(): boolean {
    return this.#spellings.size === 0
  }

  /** By the hash of four characters: 1 if a spelling may begin with them. */
  get begins(): Uint8Array {
    return this.#begins
  }

  /** The spellings that begin with four characters, in the order of their characters' codes. */
  startingWith(characters: string): readonly string[] {
    return this.#spellings.get(characters) ?? []
  }

  #add(part: string, known: Set<string>): void {
    if (known.has(part)) return
    known.add(part)
    const key = part.slice(0, TELLING_CHARACTERS)
    this.#begins[hash(part)] = 1
    const others = this.#spellings.get(key)
    if (others === undefined) this.#spellings.set(key, [part])
    else others.push(part)
  }
}

/** Long spellings are looked for in parts, so that one which repeats itself does not take for ever. */
function parts(spelling: string): readonly string[] {
  const count = Math.max(1, Math.floor(spelling.length / PART_CHARACTERS))
  return Array.from({ length: count }, (_, index) =>
    spelling.slice(index * PART_CHARACTERS, index === count - 1 ? undefined : (index + 1) * PART_CHARACTERS),
  )
}

/** A hash of the first four characters in which each counts: 16 bits, to which a next character can be added. */
function hash(text: string): number {
  let code = 0
  for (let index = 0; index < TELLING_CHARACTERS; index += 1)
    code = ((code << 4) ^ text.charCodeAt(index)) & 0xffff
  return code
}
