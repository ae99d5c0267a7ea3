import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CLOSE_CODES, closeReason } from './close-codes.ts'
import { END_CAUSES } from './sessions.ts'

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

describe('closeReason', () => {
  it('fits into a close frame, is the beginning of the message, and is all of it if it can be', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (message) => {
        const reason = closeReason(message)
        expect(bytesOf(reason)).toBeLessThanOrEqual(123)
        expect(message.startsWith(reason.replace(/…$/, ''))).toBe(true)
        if (bytesOf(message) <= 123) expect(reason).toBe(message)
        else expect(bytesOf(reason)).toBeGreaterThanOrEqual(120)
      }),
    )
  })

  it.each([
    ['x'.repeat(124), 120],
    [`${'x'.repeat(119)}é${'x'.repeat(9)}`, 119],
    [`${'x'.repeat(118)}😀${'x'.repeat(9)}`, 118],
  ])('leaves out a character that would be cut in two', (message, length) => {
    expect(closeReason(message)).toBe(`${'x'.repeat(length)}…`)
  })
})

describe('CLOSE_CODES', () => {
  it('has a code that may be sent for every cause', () => {
    expect(Object.keys(CLOSE_CODES).sort()).toEqual(Object.keys(END_CAUSES).sort())
    for (const code of Object.values(CLOSE_CODES)) {
      expect([1000, 1001, 1011, 1012].includes(code) || (code >= 4000 && code < 5000)).toBe(true)
    }
  })
})
