import { expect, test } from 'vitest'
import {
  EVENTS_KEPT,
  type EventEntry,
  eventEntry,
  eventsMatching,
  isWorthLogging,
  withEvent,
} from './event-log.ts'

const entry = (id: number, type = 'metrics', data?: unknown): EventEntry =>
  eventEntry(id, 0, 'bot', type, data)

test('audio levels are too many to be worth a line', () => {
  expect(isWorthLogging('bot-audio-level')).toBe(false)
  expect(isWorthLogging('bot-output')).toBe(true)
})

test('what looks like a secret never gets into an entry', () => {
  const nested = { a: { token: 'abc123', name: 'x' }, url: 'wss://host/ws?token=abc123&b=1' }
  const { detail } = entry(1, 'x', nested)
  expect(detail).not.toContain('abc123')
  expect(detail).toContain('"name":"x"')
  expect(detail).toContain('b=1')
  expect(entry(1, 'x', 'api_key=abc123').detail).not.toContain('abc123')
})

test('a long detail is cut, an absent one is empty', () => {
  expect(entry(1, 'x', 'y'.repeat(5000)).detail.length).toBeLessThan(1000)
  expect(entry(1).detail).toBe('')
})

test('the oldest entries are forgotten beyond the bound', () => {
  let events: readonly EventEntry[] = []
  for (let id = 1; id <= EVENTS_KEPT + 5; id += 1) events = withEvent(events, entry(id))
  expect(events).toHaveLength(EVENTS_KEPT)
  expect(events[0]?.id).toBe(6)
})

test('the filter looks at type and detail, whatever the case', () => {
  const events = [entry(1, 'bot-output', { text: 'Hello' }), entry(2, 'metrics')]
  expect(eventsMatching(events, ' HELLO ').map(({ id }) => id)).toEqual([1])
  expect(eventsMatching(events, 'metr').map(({ id }) => id)).toEqual([2])
  expect(eventsMatching(events, '  ')).toBe(events)
})
