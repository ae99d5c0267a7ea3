import { describe, expect, it } from 'vitest'
import { clauses, speakable } from './clauses.ts'

describe('clauses', () => {
  it('keeps a short sentence whole', () => {
    expect(clauses('Hello, how are you?')).toEqual(['Hello, how are you?'])
  })

  it('cuts at sentence ends', () => {
    expect(clauses('One. Two! Three?')).toEqual(['One.', 'Two!', 'Three?'])
  })

  it('cuts a long sentence at its commas, as few times as it can', () => {
    expect(clauses('Say something, type a message, or press a key on the keypad.')).toEqual([
      'Say something, type a message,',
      'or press a key on the keypad.',
    ])
  })

  it('cuts between words where there is no comma, and loses none', () => {
    const text = 'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november'
    const pieces = clauses(text)
    expect(pieces.length).toBeGreaterThan(1)
    expect(pieces.join(' ')).toBe(text)
  })

  it('cuts a word that would take too long, losing no letter', () => {
    const pieces = clauses('7'.repeat(100))
    expect(pieces.length).toBeGreaterThan(4)
    expect(pieces.join('').replaceAll(' ', '')).toBe('7'.repeat(100))
  })
})

describe('speakable', () => {
  it('drops accents and signs that have no word', () => {
    expect(speakable('Zoë — “naïve” <b>')).toBe('Zoe, naive b')
  })

  it('is empty when nothing is left', () => {
    expect(speakable('…!? 你好')).toBe('')
  })
})
