import { expect, it } from 'vitest'
import { nearest } from './nearest.ts'

const KNOWN = ['host', 'port', 'transport', 'allowed-origins', 'warm']

it.each([
  ['prot', 'port'],
  ['transprot', 'transport'],
  ['allowed-origin', 'allowed-origins'],
  ['trans', 'transport'],
  ['worm', 'warm'],
  ['banana', undefined],
  ['x', undefined],
])('%s -> %s', (word, expected) => {
  expect(nearest(word, KNOWN)).toBe(expected)
})
