import { encodeAudioOut, encodeControl, encodeHeard, encodeSocket } from '@botcli/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RelayPair } from '../testing/relay-pair.ts'

const u32 = fc.oneof(fc.nat(3), fc.nat(0xffffffff))

/** What a guest may say to a caller that is passed through, and what it may not. */
const message = fc.oneof(
  fc.record({ type: fc.constant('socket-close'), code: fc.integer(), reason: fc.string() }),
  fc.record({ type: fc.constant('answer'), id: fc.integer(), sdp: fc.string() }),
  fc.record({ type: fc.constant('peer'), state: fc.constantFrom('connected', 'disconnected', 'closed') }),
  fc.record({ type: fc.constant('message'), data: fc.jsonValue() }),
  fc.record({ type: fc.constant('pong'), id: fc.integer(), rss: fc.nat() }),
  fc.record({ type: fc.constant('end'), outcome: fc.constantFrom('returned', 'failed') }),
)

const frame = fc.oneof(
  { weight: 3, arbitrary: message.map(encodeControl) },
  {
    weight: 8,
    arbitrary: fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 300 })).map(encodeSocket),
  },
  { weight: 2, arbitrary: u32.map(encodeHeard) },
  { weight: 1, arbitrary: fc.constant(encodeAudioOut(0, new Int16Array(3))) },
)

/** A valid stream, with some of its bytes changed. */
const mutated = fc
  .tuple(fc.array(frame, { maxLength: 15 }), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }))
  .map(([frames, changes]) => {
    const bytes = Buffer.concat(frames)
    for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value
    return bytes
  })

describe('a socket whose guest', () => {
  it('sends frames in any order, whole or damaged, is closed with words, once', async () => {
    await fc.assert(
      fc.asyncProperty(mutated, async (bytes) => {
        const pair = await RelayPair.open()
        pair.client.send('hello')
        pair.guest.stream.write(bytes)
        pair.guest.stream.end()
        const { cause, message: words } = await pair.over()
        expect(cause).toMatch(/^bot_/)
        expect(words).not.toBe('')
        await pair.session.close({ result: 'failed', cause, message: words }, 60_000)
        const { code } = await pair.whenClosed()
        expect(code).not.toBe(1006)
        expect(pair.overs).toHaveLength(1)
        await pair.close()
      }),
      { numRuns: 60 },
    )
  })
})
