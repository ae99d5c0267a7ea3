import { RTVIMessage } from '@pipecat-ai/client-js'
import { ProtobufFrameSerializer } from '@pipecat-ai/websocket-transport'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ClientFrame, decodeClientFrame, encodeClientFrame } from './client-frame.ts'

const u32 = fc.integer({ min: 0, max: 0xffff_ffff })
const text = fc.string({ unit: 'grapheme' })
const bytes = fc.uint8Array({ maxLength: 200 })

const frame: fc.Arbitrary<ClientFrame> = fc.oneof(
  text.map((value) => ({ kind: 'text' as const, text: value })),
  fc.record({ kind: fc.constant('audio' as const), audio: bytes, sampleRate: u32, channels: u32 }),
  fc.record({ kind: fc.constant('transcription' as const), text, userId: text, timestamp: text }),
  text.map((data) => ({ kind: 'message' as const, data })),
  fc.constant({ kind: 'interruption' as const }),
)

describe('a client frame', () => {
  it('is what it was after the way there', () => {
    fc.assert(
      fc.property(frame, (sent) => {
        expect(decodeClientFrame(encodeClientFrame(sent))).toEqual(sent)
      }),
    )
  })

  it('is a frame or nothing for any bytes at all', () => {
    const kinds = ['text', 'audio', 'transcription', 'message', 'interruption']
    // Half of the runs damage a true frame, so that the inner messages are reached too.
    const damaged = fc
      .tuple(frame, fc.nat(), fc.integer({ min: 0, max: 255 }))
      .map(([sent, place, value]) => {
        const encoded = encodeClientFrame(sent).slice()
        encoded[place % encoded.length] = value
        return encoded
      })
    fc.assert(
      fc.property(fc.oneof(bytes, damaged), (data) => {
        const decoded = decodeClientFrame(data)
        expect(decoded === undefined || kinds.includes(decoded.kind)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['no bytes', []],
    ['a length beyond the end', [0x12, 0x7f, 0x01]],
    ['text that is not UTF-8', [0x22, 0x03, 0x0a, 0x01, 0xff]],
    ['only a field that is not known', [0x7a, 0x00]],
  ])('is nothing for %s', (_, data) => {
    expect(decodeClientFrame(Uint8Array.from(data))).toBeUndefined()
  })
})

describe('the published client', () => {
  const published = new ProtobufFrameSerializer()

  it('sends sound and messages that are understood here', () => {
    const sound = Int16Array.of(0, 1, -1, 32_767)
    expect(decodeClientFrame(published.serializeAudio(sound.buffer, 16_000, 1))).toEqual({
      kind: 'audio',
      audio: new Uint8Array(sound.buffer),
      sampleRate: 16_000,
      channels: 1,
    })
    const message = new RTVIMessage('client-message', { t: 'é' }, 'id-1')
    const decoded = decodeClientFrame(published.serializeMessage(message))
    expect(decoded?.kind === 'message' && JSON.parse(decoded.data)).toEqual({ ...message })
  })

  it('understands sound and messages that are sent from here', async () => {
    const sound = Int16Array.of(5, -6, 7)
    const audio = new Uint8Array(sound.buffer)
    const bytes = encodeClientFrame({ kind: 'audio', audio, sampleRate: 24_000, channels: 1 })
    expect(await published.deserialize(new Blob([bytes.slice()]))).toEqual({ type: 'audio', audio: sound })
    const data = { label: 'rtvi-ai', type: 'bot-ready', id: 'x', data: { version: '2.2.0' } }
    const message = encodeClientFrame({ kind: 'message', data: JSON.stringify(data) })
    expect(await published.deserialize(new Blob([message.slice()]))).toEqual({
      type: 'message',
      message: data,
    })
  })
})
