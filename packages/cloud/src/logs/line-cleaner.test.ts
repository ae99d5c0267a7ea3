import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONTINUES, LineCleaner, MAX_LINE_BYTES } from './line-cleaner.ts'

/** The lines of output that comes in pieces. */
function clean(...pieces: readonly (string | Uint8Array)[]): string[] {
  const cleaner = new LineCleaner()
  return [...pieces.flatMap((piece) => cleaner.write(piece)), ...cleaner.close()]
}

describe('lines of output', () => {
  it.each([
    ['whole ones', ['one\ntwo\n'], ['one', 'two']],
    ['in pieces', ['on', 'e\ntw', 'o\n'], ['one', 'two']],
    ['without an end', ['one\ntwo'], ['one', 'two']],
    ['empty ones', ['\n\na\n'], ['', '', 'a']],
    ['with a carriage return', ['one\r\ntwo\r', '\n'], ['one', 'two']],
    ['a progress bar', ['10 %\r50 %\r100 %\ndone\n'], ['100 %', 'done']],
    ['a progress bar in pieces', ['10 %', '\r', '50', ' %\r', '\n'], ['50 %']],
    ['a progress bar that cleans up', ['10 %\r100 %\r     \r\n'], ['100 %']],
    ['a progress bar that erases its line', ['10 %\u001b[2K\u001b[1G20 %\u001b[K\n'], ['20 %']],
    ['only spaces', ['   \n'], ['   ']],
    ['colours', ['\u001b[1;31mred\u001b[0m \u001b[38;2;1;2;3mtrue\u001b[m\n'], ['red true']],
    ['colours in pieces', ['\u001b', '[1;', '31', 'mred\n'], ['red']],
    ['a link', ['\u001b]8;;https://example.org\u0007text\u001b]8;;\u001b\\!\n'], ['text!']],
    ['a character set', ['\u001b(Btext\u001b=\n'], ['text']],
    ['a sequence that never ends', ['a\u001b]0;title\nb\n'], ['a', 'b']],
    ['a broken sequence', ['a\u001b[31\u00e9b\n'], ['a\u00e9b']],
    ['an escape at the end', ['a\u001b'], ['a']],
    ['a backspace', ['ab\bc 👋\b!\n\b\n'], ['ac !', '']],
    ['a bell, a zero and a tab', ['a\u0007\u0000\tb\u0085\n'], ['a\tb']],
    ['a byte order mark', ['\ufeffa\n'], ['\ufeffa']],
    ['a character in pieces', [Buffer.from([0xe2, 0x82]), Buffer.from([0xac, 0x0a])], ['€']],
    ['bad bytes', [Buffer.from([0x61, 0xff, 0x62, 0xc3, 0x0a])], ['a\ufffdb\ufffd']],
    ['half a character at the end', [Buffer.from([0x61, 0xe2, 0x82])], ['a\ufffd']],
    ['half a character in a string', ['a\ud800b\n'], ['a\ufffdb']],
    ['nothing', ['', new Uint8Array()], []],
  ])('are made of %s', (_, pieces, lines) => {
    expect(clean(...pieces)).toEqual(lines)
  })

  it('end where they are told to, and go on', () => {
    const cleaner = new LineCleaner()
    expect(cleaner.write('a prompt? ')).toEqual([])
    expect(cleaner.end()).toEqual(['a prompt? '])
    expect(cleaner.end()).toEqual([])
    expect(cleaner.write('more\n')).toEqual(['more'])
  })

  it('may have 64 KiB, and longer ones are split and marked', () => {
    const longest = 'x'.repeat(MAX_LINE_BYTES)
    expect(clean(`${longest}\n`)).toEqual([longest])
    const lines = clean(`${longest}${longest}y\nz\n`)
    expect(lines).toHaveLength(4)
    expect(lines.slice(0, 2).every((line) => line.endsWith(CONTINUES))).toBe(true)
    expect(lines.map((line) => line.replace(CONTINUES, '')).join('')).toBe(`${longest}${longest}yz`)
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBe(MAX_LINE_BYTES)
  })

  it('are split between characters', () => {
    const text = '👋'.repeat(40_000)
    const lines = clean(text)
    expect(lines.map((line) => line.replace(CONTINUES, '')).join('')).toBe(text)
    expect(lines.every((line) => Buffer.byteLength(line) <= MAX_LINE_BYTES)).toBe(true)
  })

  it('do not pile up when a progress bar never ends its line', () => {
    const cleaner = new LineCleaner()
    for (let index = 0; index < 50_000; index += 1) expect(cleaner.write(`\r${index} of many`)).toEqual([])
    expect(cleaner.close()).toEqual(['49999 of many'])
  })

  it('do not depend on how the bytes are split', () => {
    const part = fc.oneof(
      fc.constantFrom(
        '\n',
        '\r',
        '\r\n',
        '\u001b',
        '\u001b[',
        '[2K',
        '1G',
        '31m',
        ']0;',
        '\u0007',
        '\u001b\\',
        '\b',
        '(B',
      ),
      fc.constantFrom('a', ' ', 'é', '€', '👋', 'text', 'x'.repeat(40_000)),
      fc.uint8Array({ maxLength: 6 }),
    )
    const property = fc.property(
      fc.array(part, { maxLength: 30 }),
      fc.array(fc.nat(200), { maxLength: 30 }),
      (parts, lengths) => {
        const bytes = Buffer.concat(parts.map((one) => Buffer.from(one)))
        const pieces: Uint8Array[] = []
        let from = 0
        for (const length of lengths) {
          pieces.push(bytes.subarray(from, from + length))
          from += length
        }
        expect(clean(...pieces, bytes.subarray(from))).toEqual(referenceLines(bytes))
      },
    )
    fc.assert(property, { numRuns: 300, endOnFailure: true })
  })
})

/** The same, slowly: each line as a whole, one rule after the other. */
function referenceLines(bytes: Uint8Array): string[] {
  const lines = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.flatMap(referenceLine)
}

function referenceLine(line: string): string[] {
  const done: string[] = []
  let shown = ''
  let before = ''
  for (const token of tokens(line)) {
    if (token === '\r') {
      if (shown.trim() !== '') before = shown
      shown = ''
    } else if (token === '\b') {
      shown = [...shown].slice(0, -1).join('')
    } else {
      shown += token
      while (Buffer.byteLength(shown) > MAX_LINE_BYTES) {
        const part = firstBytes(shown, MAX_LINE_BYTES - Buffer.byteLength(CONTINUES))
        done.push(part + CONTINUES)
        shown = shown.slice(part.length)
      }
    }
  }
  return [...done, shown.trim() === '' && before !== '' ? before : shown]
}

/** As many whole characters as fit. */
function firstBytes(text: string, limit: number): string {
  let bytes = 0
  let part = ''
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > limit) break
    part += character
  }
  return part
}

/** Text that is shown, `\r` for what begins the line anew, `\b`. */
function tokens(line: string): string[] {
  const found: string[] = []
  let rest = line
  while (rest !== '') {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
    const plain = /^[^\u0000-\u0008\u000a-\u001f\u007f-\u009f]+/.exec(rest)?.[0]
    const sequence = plain === undefined ? sequenceAt(rest) : plain
    if (plain !== undefined) found.push(plain)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: see above
    else if (rest[0] === '\r' || /^\u001b\[(?:[01]?G|2K)$/.test(sequence)) found.push('\r')
    else if (rest[0] === '\b') found.push('\b')
    rest = rest.slice(sequence.length)
  }
  return found
}

/** An escape sequence, as much of it as is one, or one control character. */
function sequenceAt(text: string): string {
  const forms = [
    // biome-ignore lint/suspicious/noControlCharactersInRegex: see above
    /^\u001b\[[\u0020-\u003f]*[\u0040-\u007e]?/,
    // A string goes up to its end, to another escape sequence or to the end of the line.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: see above
    /^\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|(?=\u001b)|$)/,
    // biome-ignore lint/suspicious/noControlCharactersInRegex: see above
    /^\u001b[\u0020-\u002f]*[\u0030-\u007e]?/,
  ]
  for (const form of forms) {
    const found = form.exec(text)?.[0]
    if (found !== undefined) return found
  }
  return text.slice(0, 1)
}

it('takes back characters of a long line one by one, as often as they come', () => {
  const long = 'ü'.repeat(30_000)
  const output = `${long}${'y\b'.repeat(400_000)}${'👋\b'.repeat(1000)}${'\b'.repeat(29_999)}!\n`
  expect(clean(output)).toEqual(['ü!'])
})
