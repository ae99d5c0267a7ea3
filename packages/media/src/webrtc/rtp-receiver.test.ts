import { isVoiced } from '@botcli/audio'
import { describe, expect, it } from 'vitest'
import { OpusEncoder } from './opus.ts'
import { buildRtp } from './rtp.ts'
import { RtpReceiver } from './rtp-receiver.ts'

const LOUD = Int16Array.from({ length: 320 }, (_, i) => 8000 * Math.sin((2 * Math.PI * 400 * i) / 16000))

/** A stream of packets whose numbers and times the test chooses, and what the receiver makes of it. */
async function stream(rate = 16000) {
  const heard: { samples: number; voiced: boolean; at: number }[] = []
  const receiver = new RtpReceiver({
    audio: (samples, at) => heard.push({ samples: samples.length, voiced: isVoiced(samples), at }),
  })
  receiver.setPayloadType(111)
  await receiver.setRate(rate)
  const encoder = new OpusEncoder(16000)
  const packet = (sequence: number, frame: number, samples = LOUD, ssrc = 7) =>
    buildRtp({
      payloadType: 111,
      marker: false,
      sequence: sequence & 0xffff,
      timestamp: (frame * 960) >>> 0,
      ssrc,
      payload: Uint8Array.from(encoder.encode(samples)),
    })
  const total = () => heard.reduce((sum, part) => sum + part.samples, 0)
  return { receiver, heard, packet, total }
}

const QUIET = new Int16Array(320)

describe('RtpReceiver', () => {
  it('gives the sound of every packet when it comes', async () => {
    const { receiver, heard, packet } = await stream()
    for (let i = 0; i < 5; i += 1) receiver.receive(packet(i, i), 100 + i * 20)
    expect(heard.map((part) => part.at)).toEqual([100, 120, 140, 160, 180])
    expect(heard.every((part) => part.samples === 320)).toBe(true)
    receiver.close()
  })

  it('gives whole frames at a rate that Opus does not know', async () => {
    const { receiver, packet, total } = await stream(22050)
    for (let i = 0; i < 5; i += 1) receiver.receive(packet(i, i), i * 20)
    expect(total()).toBe(5 * 441)
    receiver.close()
  })

  it('fills what was lost, so that no time is missing', async () => {
    const { receiver, packet, total } = await stream()
    for (const i of [0, 1, 2, 5, 6, 7]) receiver.receive(packet(i, i), i * 20)
    expect(total()).toBe(8 * 320)
    expect(receiver.concealedMs).toBe(40)
    receiver.close()
  })

  it('fills a long loss mostly with silence, and at most a second', async () => {
    const { receiver, heard, packet, total } = await stream()
    for (const i of [0, 1, 2]) receiver.receive(packet(i, i), i * 20)
    for (const i of [203, 204, 205]) receiver.receive(packet(i, i), i * 20)
    expect(total()).toBe(6 * 320 + 16000)
    expect(heard.some((part) => part.samples === 14400 && !part.voiced)).toBe(true)
    receiver.close()
  })

  it('takes a jump in time without a lost number for silence, not for loss', async () => {
    const { receiver, packet, total } = await stream()
    receiver.receive(packet(0, 0), 0)
    receiver.receive(packet(1, 20), 400)
    expect(total()).toBe(21 * 320)
    expect(receiver.concealedMs).toBe(0)
    receiver.close()
  })

  it('tells the silence of a quiet caller as it passes, and only once', async () => {
    const { receiver, packet, total } = await stream()
    for (let i = 0; i < 4; i += 1) receiver.receive(packet(i, i, QUIET), i * 20)
    const spoken = total()
    for (let now = 80; now <= 380; now += 20) receiver.step(now)
    expect(total()).toBeGreaterThan(spoken + 10 * 320)
    receiver.receive(packet(4, 20, QUIET), 400)
    expect(total()).toBe(21 * 320)
    receiver.close()
  })

  it('waits longer for one who was cut off while speaking, and stops telling at last', async () => {
    const { receiver, packet, total } = await stream()
    for (let i = 0; i < 4; i += 1) receiver.receive(packet(i, i), i * 20)
    for (let now = 80; now < 260; now += 20) receiver.step(now)
    expect(total()).toBe(4 * 320)
    for (let now = 260; now < 60_000; now += 20) receiver.step(now)
    expect(total()).toBeGreaterThan(4 * 16000)
    expect(total()).toBeLessThan(6 * 16000)
    receiver.close()
  })

  it('goes on when the sender starts a new stream', async () => {
    const { receiver, packet, total } = await stream()
    receiver.receive(packet(0, 0), 0)
    receiver.receive(packet(30000, 9_999_999, LOUD, 8), 20)
    expect(total()).toBe(2 * 320)
    expect(receiver.concealedMs).toBe(0)
    receiver.close()
  })

  it('leaves out what is no packet of its stream, and survives sound that is no Opus', async () => {
    const { receiver, packet, total } = await stream()
    const other = packet(1, 1)
    other[1] = 96
    receiver.receive(other, 0)
    receiver.receive(Uint8Array.of(0x80, 200, 0, 1, 0, 0, 0, 0), 0)
    receiver.receive(Uint8Array.of(1, 2, 3), 0)
    expect(total()).toBe(0)
    const junk = Buffer.concat([packet(0, 0).subarray(0, 12), Buffer.alloc(40, 0xff)])
    receiver.receive(junk, 0)
    receiver.receive(packet(1, 1), 20)
    expect(total()).toBe(640)
    receiver.close()
  })

  it('gives no more sound than time allows, whatever is sent', async () => {
    const { receiver, packet, total } = await stream()
    for (let i = 0; i < 5000; i += 1) receiver.receive(packet(i, i * 40), i / 10)
    expect(total()).toBeGreaterThan(16000)
    expect(total()).toBeLessThan(5 * 16000)
    receiver.close()
  })

  it('is deaf before it has a rate and after it was closed', async () => {
    const { receiver, packet, total } = await stream()
    receiver.close()
    receiver.receive(packet(0, 0), 0)
    receiver.step(1000)
    expect(total()).toBe(0)
    const fresh = new RtpReceiver({ audio: () => expect.unreachable() })
    fresh.setPayloadType(111)
    fresh.receive(packet(0, 0), 0)
    const late = fresh.setRate(16000)
    fresh.close()
    await late
    fresh.receive(packet(1, 1), 20)
  })
})
