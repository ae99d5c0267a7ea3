import { describe, expect, it } from 'vitest'
import { ChunkOrder } from './chunk-order.ts'

/** Pushes these numbers 20 ms apart, and gives what came out after each. */
function run(chunks: readonly number[], order = new ChunkOrder()): number[][] {
  return chunks.map((chunk, at) =>
    order.push({ chunk, bytes: new Uint8Array(), arrivedAt: 20 * at }).map((piece) => piece.chunk),
  )
}

describe('ChunkOrder', () => {
  it('holds nothing back while nothing is missing, wherever the count begins', () => {
    expect(run([7, 8, 9])).toEqual([[7], [8], [9]])
  })

  it('puts neighbours in order', () => {
    expect(run([1, 3, 2, 4])).toEqual([[1], [], [2, 3], [4]])
  })

  it('leaves out what is repeated or too late', () => {
    expect(run([1, 2, 2, 1, 3, 5, 5])).toEqual([[1], [2], [], [], [3], [], []])
  })

  it('does not believe a count that never goes on', () => {
    const numbers = Array.from({ length: 10 }, () => 7)
    expect(run(numbers).flat().length).toBeGreaterThanOrEqual(6)
  })

  it('gives up on what is lost when three wait', () => {
    expect(run([1, 3, 4, 5, 6, 2])).toEqual([[1], [], [], [3, 4, 5], [6], []])
  })

  it('gives up on what is lost after 60 ms, also when nothing more comes', () => {
    const order = new ChunkOrder()
    run([1, 3], order)
    expect(order.expire(79)).toEqual([])
    expect(order.expire(80).map(({ chunk }) => chunk)).toEqual([3])
  })

  it('follows a count that begins anew, and loses nothing then', () => {
    expect(run([1000, 1002, 1, 2, 90, 91])).toEqual([[1000], [], [1002, 1], [2], [90], [91]])
  })
})
