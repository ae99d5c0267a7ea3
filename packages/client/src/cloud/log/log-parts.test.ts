import { describe, expect, it } from 'vitest'
import { EventStreamParser } from '../api/event-stream.ts'
import { failingLine } from './failing-line.ts'
import { readRange } from './log-follower.ts'
import { LogLines } from './log-lines.ts'
import { buildLogPieces } from './log-stream.ts'
import { followsAfter, isInSight, ROW_HEIGHT, rowWindow, scrollTopFor } from './log-window.ts'

describe('the window of rows', () => {
  it('has the rows in sight and a bounded number around them, wherever one is', () => {
    const height = 600
    for (const rows of [0, 1, 10, 100_000]) {
      for (let scrollTop = 0; scrollTop <= rows * ROW_HEIGHT; scrollTop += Math.max(1, rows * 1.7)) {
        const { start, end } = rowWindow({ scrollTop, height }, rows)
        expect(start).toBeGreaterThanOrEqual(0)
        expect(end).toBeLessThanOrEqual(rows)
        expect(end - start).toBeLessThanOrEqual(height / ROW_HEIGHT + 31)
        expect(start).toBeLessThanOrEqual(Math.floor(scrollTop / ROW_HEIGHT))
        expect(end).toBeGreaterThanOrEqual(Math.min(rows, Math.ceil((scrollTop + height) / ROW_HEIGHT)))
      }
    }
  })

  it('brings a row into sight', () => {
    const sight = { scrollTop: scrollTopFor(500, 600), height: 600 }
    expect(isInSight(500, sight)).toBe(true)
    expect(isInSight(480, sight)).toBe(false)
    expect(scrollTopFor(2, 600)).toBe(0)
  })

  it.each([
    ['a small move up ends it', true, 1_400, 1_395, 2_000, false],
    ['the list has grown meanwhile', true, 1_400, 1_400, 2_500, true],
    ['moving down, not to the end', false, 1_000, 1_300, 2_000, false],
    ['moving down to the end', false, 1_000, 1_398.5, 2_000, true],
    ['a list that fits', true, 0, 0, 300, true],
  ])('following: %s', (_, follows, before, scrollTop, content, result) => {
    expect(followsAfter(follows, before, { scrollTop, height: 600 }, content)).toBe(result)
  })
})

describe('an event stream', () => {
  const text =
    ': hello\nretry: 1000\n\nid: 7\ndata: "a: b"\n\nid:8\r\ndata:"ü"\r\n\r\nevent: end\ndata: {}\n\n'
  const events = [
    { id: '7', type: 'message', data: '"a: b"' },
    { id: '8', type: 'message', data: '"ü"' },
    { id: '', type: 'end', data: '{}' },
  ]

  it('is the same wherever it is cut', () => {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const parser = new EventStreamParser()
      expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))]).toEqual(events)
    }
  })

  it('does not grow without end', () => {
    const parser = new EventStreamParser()
    const piece = 'x'.repeat(1024 * 1024)
    expect(() => {
      for (let turn = 0; turn < 10; turn += 1) parser.push(piece)
    }).toThrow('too long')
  })
})

describe('a range of older lines', () => {
  const stream = (numbers: readonly number[]) => async () =>
    buildLogPieces(new Response(numbers.map((number) => `id: ${number}\ndata: "${number}"\n\n`).join('')))
  const { signal } = new AbortController()

  it('ends before the first line that is there already', async () => {
    const asked: unknown[] = []
    const open = (lastId: string | undefined) => {
      asked.push(lastId)
      return stream([5, 6, 7, 8, 9, 10])()
    }
    const lines = await readRange(open, 5, 8, signal)
    expect(lines.map(({ number }) => number)).toEqual([5, 6, 7])
    expect(asked).toEqual(['4'])
  })

  it('takes a line that stands for many, also when it reaches over lines that are there', async () => {
    expect(
      (await readRange(stream([5, 90]), 5, 50, signal)).map(({ number, text }) => [number, text]),
    ).toEqual([
      [5, '5'],
      [49, '90'],
    ])
  })

  it('is refused when it was cut', async () => {
    await expect(readRange(stream([5, 6]), 5, 8, signal)).rejects.toThrow('cut')
  })
})

describe('the failing line', () => {
  const linesOf = (...texts: string[]): LogLines => {
    const lines = new LogLines()
    lines.append(texts.map((text, number) => ({ number, text })))
    return lines
  }

  it.each([
    [['ERROR: no x', 'more', 'Failed: ERROR: no x', 'Hint: y'], 'ERROR: no x', 0],
    [['ERROR: no x', '  ERROR: no x', 'Failed: ERROR: no x'], 'ERROR: no x', 1],
    [['nothing', 'Failed: the builder is lost'], 'the builder is lost', 1],
    [['nothing', 'Timeout: too long'], 'too long', 1],
    [['a long message that goes on', 'Failed: a long…'], 'a long…', 0],
    [['nothing'], 'absent', undefined],
    [['nothing'], '', undefined],
  ])('of %j with the message %j is %s', (texts, message, number) => {
    expect(failingLine(linesOf(...texts), message)).toBe(number)
  })
})
