import { describe, expect, it } from 'vitest'
import { decodeWav, encodeWav, mixDown, WavError } from './wav.ts'

const LEFT = Int16Array.of(1, -2, 32_767, -32_768)
const RIGHT = Int16Array.of(3, 4, -32_767, 0)

/** A file with its parts changed. */
function changed(at: number, value: number): Uint8Array {
  const bytes = encodeWav({ rate: 8000, channels: [LEFT] })
  new DataView(bytes.buffer).setUint16(at, value, true)
  return bytes
}

function withChunk(tag: string, length: number): Uint8Array {
  const bytes = encodeWav({ rate: 8000, channels: [LEFT] })
  const chunk = new Uint8Array(8 + length + (length % 2))
  chunk.set([...tag].map((letter) => letter.charCodeAt(0)))
  chunk[4] = length
  return Uint8Array.from([...bytes.subarray(0, 36), ...chunk, ...bytes.subarray(36)])
}

describe('a WAV file', () => {
  it('is read as it was written', () => {
    for (const channels of [[LEFT], [LEFT, RIGHT]]) {
      expect(decodeWav(encodeWav({ rate: 44_100, channels }))).toEqual({ rate: 44_100, channels })
    }
  })

  it('has the header that others expect', () => {
    const bytes = encodeWav({ rate: 8000, channels: [LEFT, RIGHT] })
    const view = new DataView(bytes.buffer)
    const byteRate = view.getUint32(28, true)
    expect([bytes.length, view.getUint32(4, true), byteRate, view.getUint16(32, true)]).toEqual([
      60, 52, 32_000, 4,
    ])
  })

  it('may lie at an odd place in memory', () => {
    const bytes = encodeWav({ rate: 8000, channels: [LEFT] })
    const moved = new Uint8Array(bytes.length + 1)
    moved.set(bytes, 1)
    expect(decodeWav(moved.subarray(1)).channels).toEqual([LEFT])
  })

  it('fills a shorter channel with silence', () => {
    const wav = decodeWav(encodeWav({ rate: 8000, channels: [LEFT, RIGHT.subarray(0, 1)] }))
    expect(wav.channels[1]).toEqual(Int16Array.of(3, 0, 0, 0))
  })

  it('may have other parts before its sound, also of odd length', () => {
    expect(decodeWav(withChunk('LIST', 5)).channels).toEqual([LEFT])
  })

  it('gives what it has when it was cut short or never finished', () => {
    const bytes = encodeWav({ rate: 8000, channels: [LEFT] })
    expect(decodeWav(bytes.subarray(0, -3)).channels).toEqual([LEFT.subarray(0, 2)])
    new DataView(bytes.buffer).setUint32(40, 0xffff_ffff, true)
    expect(decodeWav(bytes).channels).toEqual([LEFT])
  })

  it('can be mixed down', () => {
    expect(mixDown({ rate: 8000, channels: [LEFT, RIGHT] })).toEqual(Int16Array.of(2, 1, 0, -16_384))
    expect(mixDown({ rate: 8000, channels: [LEFT] })).toBe(LEFT)
  })
})

describe('what is refused, with the reason', () => {
  it.each([
    [new Uint8Array(), 'not a WAV file'],
    [new TextEncoder().encode('ID3 this is some music'), 'not a WAV file'],
    [changed(20, 3), 'floating point'],
    [changed(20, 7), 'µ-law'],
    [changed(20, 999), 'format 999'],
    [changed(34, 24), '24 bits'],
    [changed(22, 6), '6 channels'],
    [encodeWav({ rate: 8000, channels: [LEFT] }).subarray(0, 30), 'does not say'],
    [encodeWav({ rate: 8000, channels: [LEFT] }).subarray(0, 36), 'no sound'],
  ])('%#: %s', (bytes, reason) => {
    expect(() => decodeWav(bytes)).toThrow(WavError)
    expect(() => decodeWav(bytes)).toThrow(reason)
  })
})
