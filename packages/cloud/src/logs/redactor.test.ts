import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONTINUES, LineCleaner, MAX_LINE_BYTES } from './line-cleaner.ts'
import { RedactionTable, TELLING_CHARACTERS } from './redaction-table.ts'
import { REDACTED, Redactor } from './redactor.ts'
import { secretSpellings } from './secret-spellings.ts'

async function redact(secrets: readonly string[], lines: readonly string[]): Promise<string[]> {
  const redactor = new Redactor(await RedactionTable.of(secrets))
  return [...lines.flatMap((line) => redactor.push([line])), ...redactor.close()]
}

describe('secrets in a log', () => {
  const secret = 'p4ss/wörd "x" +1'
  const bytes = Buffer.from(secret)

  it.each([
    ['as it is', secret],
    ['in base64', bytes.toString('base64')],
    ['in base64 for URLs', bytes.toString('base64url')],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in JSON of ASCII', JSON.stringify(secret).slice(1, -1).replace('ö', '\\u00f6')],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ['in a URL', encodeURIComponent(secret)],
    ['in a URL, in small letters', encodeURIComponent(secret).toLowerCase().replace('p4ss', 'p4ss')],
    ['in a form', new URLSearchParams({ a: secret }).toString().slice(2)],
  ])('are replaced %s', async (_, spelling) => {
    expect(await redact([secret], [`before ${spelling} after`, spelling])).toEqual([
      `before ${REDACTED} after`,
      REDACTED,
    ])
  })

  it.each(['', 'u', 'us', 'user', 'user:', 'user:x'])('are replaced in base64 after %j', async (before) => {
    const [line] = await redact([secret], [Buffer.from(`${before}${secret} and more`).toString('base64')])
    expect(line).toContain(REDACTED)
    const shown = Buffer.from(line?.replace(/.*\*\*\*/, '') ?? '', 'base64').toString('latin1')
    expect(shown).not.toMatch(/wörd|"x"/)
  })

  it('are replaced everywhere in a line, and where they overlap as one', async () => {
    expect(await redact(['abcabcab'], ['abcabcabcab-abcabcab'])).toEqual([`${REDACTED}-${REDACTED}`])
    expect(await redact(['secret-one', 'one-more!'], ['a secret-one-more! b'])).toEqual([`a ${REDACTED} b`])
    expect(await redact(['secret', 'secret-long'], ['secret-long secret-short'])).toEqual([
      `${REDACTED} ${REDACTED}-short`,
    ])
  })

  it('are replaced line by line', async () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADAN\nabc=\n-----END KEY-----\n'
    expect(await redact([key], [...key.trim().split('\n'), 'abc='])).toEqual([
      ...new Array(4).fill(REDACTED),
      'abc=',
    ])
    expect(await redact(['ab\ncd\nef'], ['xab', 'cd', 'efx', 'cd'])).toEqual([
      'xab',
      REDACTED,
      `${REDACTED}x`,
      'cd',
    ])
  })

  it('are replaced when they go on in the next line', async () => {
    expect(await redact(['a-long-secret'], ['see a-long', '-secret.'])).toEqual([
      `see ${REDACTED}`,
      `${REDACTED}.`,
    ])
    expect(await redact(['a-long-secret'], ['see a-lo', 'ng-', 'sec', 'ret'])).toEqual([
      `see ${REDACTED}`,
      REDACTED,
      REDACTED,
      REDACTED,
    ])
    expect(await redact(['a-long-secret'], ['a-long', 'story'])).toEqual(['a-long', 'story'])
  })

  it('are replaced when they stand where an overlong line was split', async () => {
    const cleaner = new LineCleaner()
    const cut = MAX_LINE_BYTES - Buffer.byteLength(CONTINUES)
    const lines = [
      ...cleaner.write(`${'x'.repeat(cut - 7)}a-long-secret${'y'.repeat(9000)}`),
      ...cleaner.close(),
    ]
    const redacted = await redact(['a-long-secret'], lines)
    expect(redacted).toEqual([
      `${'x'.repeat(cut - 7)}${REDACTED}${CONTINUES}`,
      `${REDACTED}${'y'.repeat(9000)}`,
    ])
  })

  it('are replaced when they are long, in one line or in many', async () => {
    const long = Array.from({ length: 3000 }, (_, index) =>
      String.fromCharCode(97 + ((index * index) % 26)),
    ).join('')
    expect(await redact([long], [`<${long}>`])).toEqual([`<${REDACTED}>`])
    const wrapped =
      Buffer.from(long)
        .toString('base64')
        .match(/.{1,76}/g) ?? []
    expect(await redact([long], wrapped)).toEqual(wrapped.map(() => REDACTED))
    expect(await redact(['a'.repeat(50_000)], new Array(4).fill('a'.repeat(60_000)))).toEqual(
      new Array(4).fill(REDACTED),
    )
  })

  it('do not go on from one text to the next', async () => {
    const redactor = new Redactor(await RedactionTable.of(['a-long-secret']))
    expect(redactor.push(['see a-long'])).toEqual([])
    expect(redactor.close()).toEqual(['see a-long'])
    expect([...redactor.push(['-secret']), ...redactor.close()]).toEqual(['-secret'])
  })

  it('do not hold a log back for ever', async () => {
    const redactor = new Redactor(await RedactionTable.of(['a-long-secret']))
    expect(redactor.push(['see a-long'])).toEqual([])
    const given = redactor.push(new Array(1000).fill(''))
    expect(given[0]).toBe('see a-long')
    expect(given.length + redactor.close().length).toBe(1001)
  })

  it('are left alone when they are shorter than six characters', async () => {
    expect(await redact(['12345', '', '\n'], ['12345'])).toEqual(['12345'])
    expect(await redact([], ['12345'])).toEqual(['12345'])
  })

  it('are found like a slow search finds them', async () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'b', '+', 'é', '\n'),
      minLength: 1,
      maxLength: 14,
    })
    const property = fc.asyncProperty(
      fc.array(letters, { maxLength: 4 }),
      fc.infiniteStream(letters),
      async (secrets, noise) => {
        const spellings = [...new Set(secrets.flatMap((secret) => [...secretSpellings(secret)]))]
        const text: string[] = []
        for (const [index, part] of [...noise.take(12)].entries()) text.push(part, spellings[index * 7] ?? '')
        const lines = text.join('').split('\n')
        checkRedacted(spellings, lines, await redact(secrets, lines))
      },
    )
    await fc.assert(property, { numRuns: 300 })
  })
})

/** Looks for every spelling at every place, newlines not counted. */
function checkRedacted(spellings: readonly string[], lines: readonly string[], redacted: readonly string[]) {
  expect(redacted).toHaveLength(lines.length)
  const text = lines.join('')
  const ends: number[] = []
  for (const line of lines) ends.push((ends.at(-1) ?? 0) + line.length)
  const lineEnd = (at: number) => ends.find((end) => end > at) ?? text.length
  const must = new Set<number>()
  const may = new Set<number>()
  for (let at = 0; at < text.length; at += 1) {
    for (const spelling of spellings) {
      if (!text.startsWith(spelling, at)) continue
      for (let place = at; place < at + spelling.length; place += 1) {
        may.add(place)
        // A line that ends before enough of a secret was seen is not held back.
        if (lineEnd(place) - at >= TELLING_CHARACTERS) must.add(place)
      }
    }
  }
  let begin = 0
  for (const [index, line] of lines.entries()) {
    const rule = (place: number) => (must.has(place) ? 'hide' : may.has(place) ? 'either' : 'show')
    const rules = Array.from({ length: line.length }, (_, place) => rule(begin + place))
    expect(canBecome(line, rules, redacted[index] ?? ''), `${line} [${rules}] -> ${redacted[index]}`).toBe(
      true,
    )
    begin += line.length
  }
}

/** Whether a line whose characters are shown or hidden by rules may look like this; hidden ones that touch are hidden as one. */
function canBecome(line: string, rules: readonly ('hide' | 'either' | 'show')[], shown: string): boolean {
  // Places in what is shown, and below zero those after which more may be hidden.
  let places = new Set([0])
  for (const [index, rule] of rules.entries()) {
    const next = new Set<number>()
    for (const place of places) {
      const at = Math.abs(place)
      if (rule !== 'hide' && shown[at] === line[index]) next.add(at + 1)
      if (rule === 'show') continue
      if (place < 0) next.add(place)
      else if (shown.startsWith(REDACTED, at)) next.add(-(at + REDACTED.length))
    }
    places = next
  }
  return [...places].some((place) => Math.abs(place) === shown.length)
}

it('finds one of very many secrets that begin alike', async () => {
  const secret = Array.from({ length: 8000 }, (_, index) => `aaaa${String(index).padStart(4, '0')}`).join(
    '\n',
  )
  const text = `${'a'.repeat(60_000)}1234${'a'.repeat(2000)}`
  expect(await redact([secret], [text])).toEqual([`${'a'.repeat(59_996)}${REDACTED}${'a'.repeat(2000)}`])
})
