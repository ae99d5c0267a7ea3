import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeLines } from './merge-lines.ts'

function merge(existing: string, planned: string): string {
  return Buffer.from(mergeLines(Buffer.from(existing), Buffer.from(planned))).toString()
}

describe('mergeLines', () => {
  it.each([
    ['a\nb\n', '# ours\nb\na\n', 'a\nb\n'],
    ['a\n', 'a\nb\n\n# x\nc\n', 'a\n\n# Added by botcli\nb\nc\n'],
    ['a', 'b\n', 'a\n\n# Added by botcli\nb\n'],
    ['', 'b\n', '# Added by botcli\nb\n'],
    ['a\r\n', 'a\nb\n', 'a\r\n\r\n# Added by botcli\r\nb\r\n'],
    ['  a  \n', 'a\n', '  a  \n'],
    [
      '!.env.example\n',
      '.env.*\n!.env.example\n',
      '!.env.example\n\n# Added by botcli\n.env.*\n!.env.example\n',
    ],
    [
      '.env.*\n!.env.example\n',
      'x\n.env.*\n!.env.example\n',
      '.env.*\n!.env.example\n\n# Added by botcli\nx\n!.env.example\n',
    ],
  ])('%j and %j', (existing, planned, merged) => {
    expect(merge(existing, planned)).toBe(merged)
  })

  it('keeps bytes that are no text', () => {
    const existing = Buffer.from([0xff, 0xfe, 0x0a])
    expect(Buffer.from(mergeLines(existing, Buffer.from('ü\n'))).subarray(0, 3)).toEqual(existing)
    expect(Buffer.from(mergeLines(existing, Buffer.from('ü\n'))).toString()).toContain('ü')
  })

  it('keeps what is there, has every rule, and changes nothing the second time', () => {
    const text = fc.array(fc.constantFrom('a', 'b/', '*.log', '!x', '# c', '', ' d'), { maxLength: 6 })
    fc.assert(
      fc.property(text, text, fc.constantFrom('\n', '\r\n'), (old, planned, end) => {
        const existing = old.join(end)
        const once = merge(existing, planned.join('\n'))
        expect(once.startsWith(existing)).toBe(true)
        const rules = once.split(/\r?\n/).map((line) => line.trim())
        for (const rule of planned.filter((line) => line.trim() !== '' && !line.startsWith('#'))) {
          expect(rules).toContain(rule.trim())
        }
        expect(merge(once, planned.join('\n'))).toBe(once)
      }),
    )
  })
})
