import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type OrderedPacket, ReorderBuffer } from './reorder-buffer.ts'

const packet = (sequence: number, ssrc = 1) => ({
  payloadType: 111,
  marker: false,
  sequence: sequence & 0xffff,
  timestamp: (sequence * 960) >>> 0,
  ssrc,
  payload: Uint8Array.of(1),
})
const brief = (ordered: readonly OrderedPacket[]) =>
  ordered.map(({ packet, lost }) => (lost === 0 ? packet.sequence : `${packet.sequence} after ${lost} lost`))

/** Pushes one packet every 20 ms and gives what came out of each push. */
function run(sequences: readonly number[]): unknown[] {
  const buffer = new ReorderBuffer()
  return sequences.map((sequence, index) => brief(buffer.push(packet(sequence), index * 20)))
}

describe('ReorderBuffer', () => {
  it('passes packets through at once while nothing is missing', () => {
    expect(run([5, 6, 7])).toEqual([[5], [6], [7]])
  })

  it('puts two that overtook each other back in order', () => {
    expect(run([1, 3, 2, 4])).toEqual([[1], [], [2, 3], [4]])
  })

  it('gives up on a lost packet when three have waited for it', () => {
    expect(run([1, 3, 4, 5, 6])).toEqual([[1], [], [], ['3 after 1 lost', 4, 5], [6]])
  })

  it('gives up after a while also when nothing else comes', () => {
    const buffer = new ReorderBuffer()
    buffer.push(packet(1), 0)
    buffer.push(packet(4), 20)
    expect(buffer.waiting).toBe(true)
    expect(brief(buffer.expire(79))).toEqual([])
    expect(brief(buffer.expire(80))).toEqual(['4 after 2 lost'])
    expect(buffer.waiting).toBe(false)
  })

  it('drops what comes twice or too late', () => {
    expect(run([1, 2, 2, 1, 4, 4, 3])).toEqual([[1], [2], [], [], [], [], [3, 4]])
  })

  it('goes on across the wrap', () => {
    expect(run([65534, 65535, 65537, 65536])).toEqual([[65534], [65535], [], [0, 1]])
  })

  it('starts anew when the stream does', () => {
    expect(run([1, 2, 5000, 5001])).toEqual([[1], [2], [5000], [5001]])
    const buffer = new ReorderBuffer()
    buffer.push(packet(9, 1), 0)
    expect(brief(buffer.push(packet(7, 2), 20))).toEqual([7])
  })

  it('gives every packet at most once, in order, and holds few', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60), { maxLength: 200 }), (sequences) => {
        const seen = run(sequences)
          .flat()
          .map((item) => Number.parseInt(String(item), 10))
        expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b))
      }),
    )
  })
})
