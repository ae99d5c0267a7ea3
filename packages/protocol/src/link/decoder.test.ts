import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LinkDecoder, LinkProtocolError } from './decoder.ts'
import {
  encodeAudioIn,
  encodeAudioOut,
  encodeControl,
  encodeHeard,
  encodePlayback,
  encodeSocket,
  HEADER_BYTES,
  type LinkFrame,
  MAX_PAYLOAD_BYTES,
} from './frame.ts'

const u32 = fc.integer({ min: 0, max: 0xffff_ffff })
const samples = fc
  .array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 64 })
  .map((all) => Int16Array.from(all))

/** Any frame, with its bytes. */
const encoded: fc.Arbitrary<{ frame: LinkFrame; bytes: Uint8Array }> = fc.oneof(
  fc.jsonValue().map((value) => {
    // What JSON makes of a value is what the peer gets: there is no -0 on the wire.
    const message: unknown = JSON.parse(JSON.stringify(value))
    return { frame: { kind: 'control' as const, message }, bytes: encodeControl(message) }
  }),
  fc.tuple(u32, samples).map(([capturedAt, sound]) => ({
    frame: { kind: 'audioIn' as const, capturedAt, samples: sound },
    bytes: encodeAudioIn(capturedAt, sound),
  })),
  fc.tuple(u32, samples).map(([epoch, sound]) => ({
    frame: { kind: 'audioOut' as const, epoch, samples: sound },
    bytes: encodeAudioOut(epoch, sound),
  })),
  fc.tuple(u32, u32, u32).map(([epoch, played, limit]) => ({
    frame: { kind: 'playback' as const, epoch, played, limit },
    bytes: encodePlayback(epoch, played, limit),
  })),
  u32.map((frames) => ({ frame: { kind: 'heard' as const, frames }, bytes: encodeHeard(frames) })),
  fc
    .oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 64 }))
    .map((data) => ({ frame: { kind: 'socket' as const, data }, bytes: encodeSocket(data) })),
)

/** Cuts bytes at places that the seeds pick; some pieces may be empty. */
function cut(bytes: Uint8Array, seeds: readonly number[]): Uint8Array[] {
  const places = seeds.map((seed) => seed % (bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length))
}

function header(kind: number, length: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES)
  bytes[0] = kind
  new DataView(bytes.buffer).setUint32(1, length)
  return bytes
}

describe('the link decoder', () => {
  it('gives back the frames that were encoded, however the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(encoded, { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (all, seeds) => {
          const stream = Buffer.concat(all.map(({ bytes }) => bytes))
          const decoder = new LinkDecoder()
          const frames = cut(stream, seeds).flatMap((chunk) => decoder.push(chunk))
          expect(frames).toEqual(all.map(({ frame }) => frame))
        },
      ),
    )
  })

  it('gives samples of their own, also from a buffer that Node uses again', () => {
    const pool = Buffer.alloc(64)
    const bytes = encodeAudioIn(5, Int16Array.of(1, -2, 3))
    pool.set(bytes, 7)
    const [frame] = new LinkDecoder().push(pool.subarray(7, 7 + bytes.length))
    pool.fill(0xff)
    expect(frame).toEqual({ kind: 'audioIn', capturedAt: 5, samples: Int16Array.of(1, -2, 3) })
  })

  it('gives bytes of their own, and text as it is, with the mark that others leave out', () => {
    const pool = Buffer.alloc(64)
    const bytes = encodeSocket(Uint8Array.of(1, 2, 3))
    pool.set(bytes, 7)
    const [frame] = new LinkDecoder().push(pool.subarray(7, 7 + bytes.length))
    pool.fill(0xff)
    expect(frame).toEqual({ kind: 'socket', data: Uint8Array.of(1, 2, 3) })
    const marked = '\uFEFF{}'
    expect(new LinkDecoder().push(encodeSocket(marked))).toEqual([{ kind: 'socket', data: marked }])
  })

  it('keeps an unfinished frame although the buffer is used again', () => {
    const decoder = new LinkDecoder()
    const bytes = Buffer.from(encodePlayback(1, 2, 3))
    const begin = Buffer.from(bytes.subarray(0, 9))
    expect(decoder.push(begin)).toEqual([])
    begin.fill(0)
    expect(decoder.push(bytes.subarray(9))).toEqual([{ kind: 'playback', epoch: 1, played: 2, limit: 3 }])
  })

  it('gives frames or a protocol error for any bytes at all, and nothing else', () => {
    // A true header before some of the bytes, so that more than the first check is reached.
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .tuple(fc.integer({ min: 0, max: 8 }), fc.uint8Array({ maxLength: 40 }))
        .map(([kind, payload]) => Buffer.concat([header(kind, payload.length), payload])),
    )
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 4 }), (chunks) => {
        const decoder = new LinkDecoder()
        try {
          for (const chunk of chunks) decoder.push(chunk)
        } catch (error) {
          expect(error).toBeInstanceOf(LinkProtocolError)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['a frame that is too long', header(1, MAX_PAYLOAD_BYTES + 1), /announces 1048577 bytes/],
    ['a kind that is not known', header(9, 0), /9 is not a kind/],
    ['half a sample', Buffer.concat([header(2, 5), new Uint8Array(5)]), /whole samples/],
    ['sound without its tag', Buffer.concat([header(3, 2), new Uint8Array(2)]), /whole samples/],
    ['a short position', Buffer.concat([header(4, 8), new Uint8Array(8)]), /8 bytes instead of 12/],
    ['a long count', Buffer.concat([header(5, 5), new Uint8Array(5)]), /5 bytes instead of 4/],
    ['text that is not JSON', Buffer.concat([header(1, 1), Buffer.from('{')]), /does not hold JSON/],
    ['a message that is not UTF-8', Buffer.concat([header(6, 1), Buffer.from([0xff])]), /not UTF-8/],
    [
      'bytes that are not UTF-8',
      Buffer.concat([header(1, 3), Buffer.from([0x22, 0xff, 0x22])]),
      /does not hold JSON/,
    ],
  ])('refuses %s', (_, bytes, message) => {
    expect(() => new LinkDecoder().push(bytes)).toThrow(message)
  })
})
