import { rtviLatency } from '@botcli/protocol'
import { expect, test } from 'vitest'
import { inMilliseconds, medianMs, TURNS_KEPT, type Turn, turnOf, withTurn } from './latency.ts'

const turn = (totalMs: number): Turn => ({ id: totalMs, wireInMs: 0, botMs: totalMs, wireOutMs: 0, totalMs })

test('a turn is read out of the message that the runner makes', () => {
  const { data } = rtviLatency({ turn: 1, wireInMs: 20, botMs: 300, wireOutMs: 40 })
  const read = turnOf(data, 7)
  expect(read?.id).toBe(7)
  expect(read?.wireInMs).toBeCloseTo(20)
  expect(read?.botMs).toBeCloseTo(300)
  expect(read?.wireOutMs).toBeCloseTo(40)
  expect(read?.totalMs).toBeCloseTo(360)
})

test('other metrics, and parts that make no sense, are no turn', () => {
  const parts = (value: unknown) => ({
    processing: ['wire-in', 'bot', 'wire-out'].map((processor) => ({ processor, value })),
  })
  expect(turnOf(parts(0.1), 1)).toBeDefined()
  expect(turnOf(parts(-1), 1)).toBeUndefined()
  expect(turnOf(parts('0.1'), 1)).toBeUndefined()
  expect(turnOf({ processing: [{ processor: 'bot', value: 0.1 }] }, 1)).toBeUndefined()
  expect(turnOf({ ttfb: [{ processor: 'llm', value: 0.1 }] }, 1)).toBeUndefined()
  expect(turnOf(undefined, 1)).toBeUndefined()
})

test('the oldest turns are forgotten beyond the bound', () => {
  let turns: readonly Turn[] = []
  for (let ms = 1; ms <= TURNS_KEPT + 3; ms += 1) turns = withTurn(turns, turn(ms))
  expect(turns).toHaveLength(TURNS_KEPT)
  expect(turns[0]?.totalMs).toBe(4)
})

test('the median is the middle, or the mean of the two middles', () => {
  expect(medianMs([])).toBeUndefined()
  expect(medianMs([turn(900), turn(100), turn(300)])).toBe(300)
  expect(medianMs([turn(400), turn(100), turn(300), turn(900)])).toBe(350)
})

test('durations keep a tenth only where it matters', () => {
  expect(inMilliseconds(0)).toBe('0 ms')
  expect(inMilliseconds(6.34)).toBe('6.3 ms')
  expect(inMilliseconds(351.4)).toBe('351 ms')
})
