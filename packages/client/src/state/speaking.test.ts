import { expect, test } from 'vitest'
import { type Speaker, speakerAfter } from './speaking.ts'

const after = (...types: readonly string[]): Speaker =>
  types.reduce<Speaker>((speaker, type) => speakerAfter(type, speaker), undefined)

test('the last one who started is speaking', () => {
  expect(after('bot-started-speaking')).toBe('bot')
  expect(after('bot-started-speaking', 'user-started-speaking')).toBe('user')
  expect(after('user-started-speaking', 'metrics')).toBe('user')
})

test('who stops takes the word from nobody else', () => {
  expect(after('user-started-speaking', 'user-stopped-speaking')).toBeUndefined()
  expect(after('user-started-speaking', 'bot-stopped-speaking')).toBe('user')
  expect(after('bot-started-speaking', 'user-stopped-speaking')).toBe('bot')
  expect(after('bot-started-speaking', 'bot-interrupted')).toBeUndefined()
})
