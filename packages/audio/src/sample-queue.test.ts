import { describe, expect, it } from 'vitest'
import { SampleQueue } from './sample-queue.ts'

describe('SampleQueue', () => {
  it('gives samples back in order, whatever the sizes in and out', () => {
    const queue = new SampleQueue()
    const seen: number[] = []
    let next = 0
    for (let round = 0; round < 3000; round += 1) {
      const size = (round * 7) % 13
      queue.push(Int16Array.from({ length: size }, () => next++ % 30000))
      seen.push(...queue.read((round * 5) % 11))
    }
    seen.push(...queue.read(Number.MAX_SAFE_INTEGER))
    expect(queue.length).toBe(0)
    expect(seen).toEqual(Array.from({ length: next }, (_, i) => i % 30000))
  })

  it('gives less when there is less, and nothing when empty', () => {
    const queue = new SampleQueue()
    expect(queue.read(5).length).toBe(0)
    queue.push(Int16Array.of(1, 2, 3))
    expect([...queue.read(5)]).toEqual([1, 2, 3])
  })

  it('forgets everything on clear and counts it', () => {
    const queue = new SampleQueue()
    queue.push(Int16Array.of(1, 2, 3))
    queue.push(Int16Array.of(4, 5))
    queue.read(1)
    expect(queue.clear()).toBe(4)
    expect(queue.length).toBe(0)
    queue.push(Int16Array.of(9))
    expect([...queue.read(2)]).toEqual([9])
  })
})
