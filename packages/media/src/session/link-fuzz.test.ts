import {
  encodeAudioIn,
  encodeAudioOut,
  encodeControl,
  encodeHeard,
  encodePlayback,
  encodeSocket,
  guestMessageSchema,
} from '@botcli/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SessionFixture } from '../testing/session-fixture.ts'
import { until } from '../testing/until.ts'

const samples = fc.int16Array({ maxLength: 2000 })
const REQUEST = { method: 'GET', path: '/', query: '', headers: [], body: '' }
const u32 = fc.oneof(fc.nat(3), fc.nat(0xffffffff))

const response = fc.record({
  status: fc.oneof(fc.constant(200), fc.nat(700)),
  headers: fc.array(fc.tuple(fc.constant('x-a'), fc.string()), { maxLength: 2 }),
  body: fc.oneof(fc.base64String(), fc.string()),
})

/** What a guest may say, and what it may not, with every field in its right form. */
const message = fc.oneof(
  fc.record({ type: fc.constant('format'), inputRate: fc.constant(16_000), outputRate: fc.constant(8000) }),
  fc.record({ type: fc.constant('clear'), epoch: fc.oneof(fc.nat(3), fc.maxSafeNat()) }),
  fc.record({ type: fc.constant('message'), data: fc.jsonValue() }),
  fc.record({ type: fc.constant('dtmf'), keys: fc.constantFrom('1', '#*', 'ABCD0') }),
  fc.record({ type: fc.constant('pong'), id: fc.integer(), rss: fc.nat() }),
  fc.record({ type: fc.constantFrom('ready', 'hello', 'load-failed', 'end', 'start') }),
  fc.record({ type: fc.constant('socket-close'), code: fc.nat(5000), reason: fc.string() }),
  fc.record({ type: fc.constant('answer'), id: fc.nat(3), sdp: fc.string(), pcId: fc.constant('peer') }),
  fc.record({ type: fc.constant('peer'), state: fc.constantFrom('connected', 'disconnected', 'closed') }),
  fc.record({ type: fc.constant('serving') }),
  fc.record({
    type: fc.constant('response'),
    id: fc.nat(3),
    response: fc.option(response, { nil: undefined }),
  }),
  fc.record({ type: fc.constant('end'), outcome: fc.constantFrom('returned', 'failed') }),
)

const frame = fc.oneof(
  { weight: 6, arbitrary: message.map(encodeControl) },
  { weight: 2, arbitrary: fc.jsonValue().map(encodeControl) },
  { weight: 4, arbitrary: fc.tuple(u32, samples).map(([epoch, sound]) => encodeAudioOut(epoch, sound)) },
  { weight: 2, arbitrary: u32.map(encodeHeard) },
  { weight: 1, arbitrary: fc.oneof(fc.string(), fc.uint8Array()).map(encodeSocket) },
  { weight: 1, arbitrary: fc.tuple(u32, samples).map(([at, sound]) => encodeAudioIn(at, sound)) },
  { weight: 1, arbitrary: fc.tuple(u32, u32, u32).map(([a, b, c]) => encodePlayback(a, b, c)) },
)

/** A valid stream, with some of its bytes changed. */
const mutated = fc
  .tuple(fc.array(frame, { maxLength: 15 }), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }))
  .map(([frames, changes]) => {
    const bytes = Buffer.concat(frames)
    for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value
    return bytes
  })

/** Lets a guest say all this and hang up, and expects one end with words, and nothing left behind. */
async function endures(stream: Uint8Array, cuts: readonly number[]): Promise<void> {
  const fixture = new SessionFixture()
  fixture.wire.events.connected()
  const asked = fixture.session.requests.ask(REQUEST).catch((error: Error) => error)
  let at = 0
  for (const cut of [...cuts, stream.length]) {
    const end = Math.min(stream.length, at + cut)
    if (end > at && fixture.guestStream.writable) fixture.guestStream.write(stream.subarray(at, end))
    at = end
    fixture.wire.events.audio(new Int16Array(320), fixture.time.clock())
    fixture.time.step()
    await new Promise((resolve) => setImmediate(resolve))
  }
  fixture.session.beat()
  fixture.guestStream.end()
  const { cause, message: words } = await fixture.over()
  expect(cause).toMatch(/^bot_/)
  expect(words).not.toBe('')
  await fixture.session.close({ result: 'failed', cause, message: words }, 60_000)
  expect(await asked).toBeDefined()
  await until('the stream is free', () => fixture.hostStream.destroyed)
  expect(fixture.overs).toHaveLength(1)
  expect(fixture.time.pending).toBe(0)
  expect(fixture.session.report().counters.messagesOut).toBe(fixture.wire.messages.length)
}

const cuts = fc.array(fc.nat(400), { maxLength: 5 })

describe('a session whose guest', () => {
  it('sends any bytes ends with words, once, and leaves nothing behind', async () => {
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), cuts, endures), { numRuns: 150 })
  })

  it('sends frames in any order, whole or damaged, ends the same way', async () => {
    await fc.assert(fc.asyncProperty(mutated, cuts, endures), { numRuns: 350 })
  })

  it('is told messages of every kind that the schema knows', () => {
    const made = fc.sample(message, 500).map(({ type }) => type)
    const known = guestMessageSchema.options.map(({ shape }) => shape.type.value)
    expect(new Set(made)).toEqual(new Set([...known, 'start']))
  })
})
