import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLines } from './line-log.ts'

/** Reads what is written piece by piece, at one moment or with a clock of the test. */
async function linesOf(pieces: readonly (string | Uint8Array)[], clock = () => 0) {
  const stream = new PassThrough()
  const lines: string[] = []
  const leftOut: number[] = []
  readLines(stream, { line: (line) => lines.push(line), leftOut: (count) => leftOut.push(count), clock })
  for (const piece of pieces) {
    stream.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  stream.end()
  await new Promise((resolve) => stream.on('end', resolve))
  return { lines, leftOut }
}

describe('lines of a log', () => {
  it('are whole, however they arrive, with the last one that has no end', async () => {
    expect((await linesOf(['one\ntw', 'o\r\n', '\nthr', 'ee'])).lines).toEqual(['one', 'two', '', 'three'])
  })

  it('may have characters that arrive in two parts', async () => {
    const bytes = Buffer.from('käse\n')
    expect((await linesOf([bytes.subarray(0, 2), bytes.subarray(2)])).lines).toEqual(['käse'])
  })

  it('are cut when they are too long, with or without an end', async () => {
    const { lines } = await linesOf([`${'x'.repeat(20_000)}\n`, 'y'.repeat(20_000), '\nz\n'])
    expect(lines.map((line) => line.length)).toEqual([8192, 8192, 0, 1])
  })

  it('are left out beyond 500 a second, and counted', async () => {
    const flood = 'x\n'.repeat(700)
    const { lines, leftOut } = await linesOf([flood, flood])
    expect(lines).toHaveLength(500)
    expect(leftOut).toEqual([900])
  })

  it('are let through again in the next second', async () => {
    const moments = [0, ...new Array(700).fill(500), 1500, 1500]
    const { lines, leftOut } = await linesOf(['x\n'.repeat(700), 'late\nlater\n'], () => moments.shift() ?? 0)
    expect(lines.slice(500)).toEqual(['late', 'later'])
    expect(leftOut).toEqual([200])
  })

  it('survive any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 10 }), async (pieces) => {
        const { lines } = await linesOf(pieces)
        const text = Buffer.concat(pieces).toString('utf8')
        const expected = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
        if (expected.at(-1) === '' && !text.endsWith('\r')) expected.pop()
        expect(lines).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })
})
