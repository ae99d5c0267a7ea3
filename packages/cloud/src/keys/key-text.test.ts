import { expect, it } from 'vitest'
import { hashOf, newKeyText, prefixOf } from './key-text.ts'

it('makes keys of 32 random bytes, all of one length', () => {
  const keys = Array.from({ length: 2000 }, () => newKeyText('private'))
  expect(new Set(keys).size).toBe(keys.length)
  for (const key of keys) expect(key).toMatch(/^sk_[0-9A-Za-z]{43}$/)
  // Every digit is used.
  expect(new Set(keys.join('').replaceAll('sk_', '')).size).toBe(62)
})

it('shows little of them and stores nothing of them', () => {
  const key = newKeyText('public')
  expect(prefixOf(key)).toBe(key.slice(0, 9))
  expect(hashOf(key)).toMatch(/^[0-9a-f]{64}$/)
  expect(hashOf(key)).not.toBe(hashOf(`${key}x`))
})
