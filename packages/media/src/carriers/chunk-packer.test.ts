import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChunkPacker } from './chunk-packer.ts'

const RULE = { minBytes: 3200, stepBytes: 320 }

function packer(rule: typeof RULE | undefined) {
  const sent: Buffer[] = []
  const packed = new ChunkPacker(rule, 0xaa, (chunk) => sent.push(Buffer.from(chunk)))
  return { packed, sent }
}

describe('ChunkPacker', () => {
  it('sends each step as it is where there is no rule', () => {
    const { packed, sent } = packer(undefined)
    packed.push(Buffer.alloc(160, 1))
    packed.push(Buffer.alloc(160, 2))
    packed.flush()
    expect(sent).toEqual([Buffer.alloc(160, 1), Buffer.alloc(160, 2)])
  })

  it('fills the last piece with silence, once', () => {
    const { packed, sent } = packer(RULE)
    packed.push(Buffer.alloc(321, 1))
    packed.flush()
    packed.flush()
    expect(sent).toEqual([Buffer.concat([Buffer.alloc(321, 1), Buffer.alloc(2879, 0xaa)])])
  })

  it('forgets what waits on clear', () => {
    const { packed, sent } = packer(RULE)
    packed.push(Buffer.alloc(320, 1))
    packed.clear()
    packed.flush()
    expect(sent).toEqual([])
  })

  it('keeps every byte, in order, in pieces of the right size, whatever the steps', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 30 }), (sizes) => {
        const { packed, sent } = packer(RULE)
        const all = Buffer.concat(sizes.map((size, at) => Buffer.alloc(size, at)))
        for (let at = 0, start = 0; at < sizes.length; start += sizes[at] ?? 0, at += 1) {
          packed.push(all.subarray(start, start + (sizes[at] ?? 0)))
        }
        packed.flush()
        for (const { length } of sent) expect(length % 320 === 0 && length >= 3200).toBe(true)
        const bytes = Buffer.concat(sent)
        expect(bytes.subarray(0, all.length).equals(all)).toBe(true)
        expect(bytes.subarray(all.length).every((byte) => byte === 0xaa)).toBe(true)
      }),
    )
  })
})
