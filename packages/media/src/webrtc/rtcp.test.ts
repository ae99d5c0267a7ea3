import { describe, expect, it } from 'vitest'
import { RtcpReporter } from './rtcp.ts'

const packet = (sequence: number) => ({
  payloadType: 111,
  marker: false,
  sequence: sequence & 0xffff,
  timestamp: sequence * 960,
  ssrc: 77,
  payload: new Uint8Array(1),
})
const NOTHING_SENT = { ssrc: 5, packets: 0, octets: 0, timestamp: 0 }

function reporter() {
  const reports: Buffer[] = []
  const time = { now: 0 }
  const made = new RtcpReporter(
    () => time.now,
    (report) => reports.push(report),
  )
  return { made, reports, time }
}

describe('RtcpReporter', () => {
  it('tells what it sent, and its name', () => {
    const { made, reports } = reporter()
    made.step(1500, { ssrc: 5, packets: 3, octets: 120, timestamp: 2880 })
    const [report] = reports
    expect([report?.[0], report?.[1], report?.readUInt16BE(2), report?.readUInt32BE(4)]).toEqual([
      0x80, 200, 6, 5,
    ])
    expect(report?.readUInt32BE(8)).toBe(2_208_988_801)
    expect(report?.readUInt32BE(12)).toBe(0x80000000)
    expect([16, 20, 24].map((at) => report?.readUInt32BE(at))).toEqual([2880, 3, 120])
    expect(report?.[29]).toBe(202)
    expect(report?.subarray(38, 41).toString()).toBe('bot')
    expect((report?.length ?? 1) % 4).toBe(0)
  })

  it('tells how much was lost since the report before, across the wrap', () => {
    const { made, reports } = reporter()
    for (const sequence of [65534, 65535, 65537]) made.received(packet(sequence), sequence * 20)
    made.step(1000, NOTHING_SENT)
    for (const sequence of [65538, 65539]) made.received(packet(sequence), sequence * 20)
    made.step(2000, NOTHING_SENT)
    const [first, second] = reports
    expect([first?.[0], first?.[1], first?.readUInt32BE(8)]).toEqual([0x81, 201, 77])
    expect([first?.[12], first?.readUIntBE(13, 3), first?.readUInt32BE(16)]).toEqual([64, 1, 65537])
    expect([second?.[12], second?.readUIntBE(13, 3), second?.readUInt32BE(16)]).toEqual([0, 1, 65539])
    expect(first?.readUInt32BE(20)).toBe(0)
  })

  it('tells how long ago the report of the other side came', () => {
    const { made, reports, time } = reporter()
    const report = Buffer.alloc(28)
    report[1] = 200
    report.writeUInt32BE(0xaabbccdd, 10)
    time.now = 500
    made.report(report)
    made.report(Uint8Array.of(1, 2, 3))
    made.received(packet(1), 500)
    made.step(1500, NOTHING_SENT)
    expect([reports[0]?.readUInt32BE(24), reports[0]?.readUInt32BE(28)]).toEqual([0xaabbccdd, 65536])
  })

  it('reports once a second', () => {
    const { made, reports } = reporter()
    for (let now = 0; now <= 5000; now += 20) made.step(now, NOTHING_SENT)
    expect(reports).toHaveLength(5)
  })
})
