import { describe, expect, it } from 'vitest'
import { parseRtp, sequenceDistance, timestampDistance } from './rtp.ts'
import { RtpSender } from './rtp-sender.ts'

/** A sender whose packets are noted with the step in which they left. */
function sender() {
  const sent: { step: number; marker: boolean; sequence: number; timestamp: number; bytes: number }[] = []
  let step = 0
  let now = 0
  const sender = new RtpSender((bytes) => {
    const packet = parseRtp(bytes)
    if (packet === undefined) throw new Error('not a packet')
    const { marker, sequence, timestamp, payload } = packet
    sent.push({ step, marker, sequence, timestamp, bytes: payload.length })
  })
  sender.setPayloadType(111)
  sender.setRate(16000)
  const loud = Int16Array.from({ length: 320 }, (_, i) => 8000 * Math.sin(i / 3))
  const run = (steps: number, isSound: boolean) => {
    for (let i = 0; i < steps; i += 1) {
      step += 1
      now += 20
      if (isSound) sender.sound(loud, now)
      else sender.silent(now)
    }
  }
  return { sender, sent, run, stall: (ms: number) => (now += ms) }
}

describe('RtpSender', () => {
  it('sends every frame of speech, marks the first, and numbers without gaps', () => {
    const { sent, run } = sender()
    run(10, true)
    expect(sent.map((packet) => packet.marker)).toEqual([true, ...new Array(9).fill(false)])
    sent.slice(1).forEach((packet, i) => {
      expect(sequenceDistance(packet.sequence, sent[i]?.sequence ?? 0)).toBe(1)
      expect(timestampDistance(packet.timestamp, sent[i]?.timestamp ?? 0)).toBe(960)
    })
  })

  it('ends speech with five frames of silence, then sends one now and then', () => {
    const { sent, run } = sender()
    run(3, true)
    run(60, false)
    expect(sent.map((packet) => packet.step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 23, 43, 63])
    expect(sent.at(-1)?.bytes).toBeLessThan(10)
  })

  it('lets time pass in silence and marks the next speech', () => {
    const { sent, run } = sender()
    run(1, true)
    run(30, false)
    run(1, true)
    const [first, last] = [sent.at(0), sent.at(-1)]
    expect(last?.marker).toBe(true)
    expect(timestampDistance(last?.timestamp ?? 0, first?.timestamp ?? 0)).toBe(31 * 960)
  })

  it('catches up with the clock after a stall, and not after a hiccup', () => {
    const { sent, run, stall } = sender()
    run(2, true)
    stall(60)
    run(1, true)
    stall(1000)
    run(1, true)
    const distances = sent
      .slice(1)
      .map((packet, i) => timestampDistance(packet.timestamp, sent[i]?.timestamp ?? 0))
    expect(distances).toEqual([960, 960, 54 * 960])
  })

  it('counts what it sent', () => {
    const { sender: made, sent, run } = sender()
    run(5, true)
    expect(made.statistics).toMatchObject({
      packets: 5,
      octets: sent.reduce((sum, packet) => sum + packet.bytes, 0),
      timestamp: sent.at(-1)?.timestamp,
    })
  })
})
