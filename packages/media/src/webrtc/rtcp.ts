import { type RtpPacket, sequenceDistance, timestampDistance } from './rtp.ts'
import type { SenderStatistics } from './rtp-sender.ts'

const REPORT_EVERY_MS = 1000
const SENDER_REPORT = 200
const RECEIVER_REPORT = 201
const DESCRIPTION = 202
/** Seconds from 1900, where NTP begins, to 1970. */
const NTP_EPOCH = 2_208_988_800

interface Stream {
  readonly ssrc: number
  readonly firstSequence: number
  /** Highest sequence number, with the wraps counted above its 16 bits. */
  highest: number
  received: number
  jitter: number
  transit: number
  /** At the report before. */
  expectedBefore: number
  receivedBefore: number
}

/** Keeps the books that RTCP reports: with them a browser adds error correction and a player keeps in step. */
export class RtcpReporter {
  readonly #clock: () => number
  readonly #send: (report: Buffer) => void
  #reportedAt: number
  #stream: Stream | undefined
  #lastReport: { readonly middle: number; readonly at: number } | undefined

  constructor(clock: () => number, send: (report: Buffer) => void) {
    this.#clock = clock
    this.#send = send
    this.#reportedAt = clock()
  }

  /** Counts a packet of the caller. */
  received(packet: RtpPacket, now: number): void {
    const transit = (now * 48 - packet.timestamp) | 0
    const stream = this.#stream
    if (stream?.ssrc !== packet.ssrc) {
      this.#stream = {
        ssrc: packet.ssrc,
        firstSequence: packet.sequence,
        highest: packet.sequence,
        received: 1,
        jitter: 0,
        transit,
        expectedBefore: 0,
        receivedBefore: 0,
      }
      return
    }
    stream.received += 1
    stream.highest += Math.max(0, sequenceDistance(packet.sequence, stream.highest & 0xffff))
    stream.jitter += (Math.abs(timestampDistance(transit, stream.transit)) - stream.jitter) / 16
    stream.transit = transit
  }

  /** Takes the caller's own reports, to tell it how long ago the last one came. */
  report(bytes: Uint8Array): void {
    if (bytes.length < 20 || bytes[1] !== SENDER_REPORT) return
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#lastReport = { middle: view.getUint32(10), at: this.#clock() }
  }

  /** Sends a report when it is time for one. */
  step(now: number, sender: SenderStatistics): void {
    if (now - this.#reportedAt < REPORT_EVERY_MS) return
    this.#reportedAt = now
    this.#send(Buffer.concat([this.#build(now, sender), description(sender.ssrc)]))
  }

  #build(now: number, sender: SenderStatistics): Buffer {
    const body: Buffer[] = []
    if (sender.packets > 0) body.push(senderInfo(now, sender))
    if (this.#stream !== undefined) body.push(this.#block(this.#stream, now))
    const count = this.#stream === undefined ? 0 : 1
    return section(sender.packets > 0 ? SENDER_REPORT : RECEIVER_REPORT, count, sender.ssrc, body)
  }

  #block(stream: Stream, now: number): Buffer {
    const expected = stream.highest - stream.firstSequence + 1
    const expectedNow = expected - stream.expectedBefore
    const lostNow = expectedNow - (stream.received - stream.receivedBefore)
    stream.expectedBefore = expected
    stream.receivedBefore = stream.received
    const fraction =
      expectedNow > 0 && lostNow > 0 ? Math.min(255, Math.floor((lostNow * 256) / expectedNow)) : 0
    const lost = Math.min(0x7fffff, Math.max(0, expected - stream.received))
    const block = Buffer.alloc(24)
    block.writeUInt32BE(stream.ssrc, 0)
    block.writeUInt32BE(fraction * 0x1000000 + lost, 4)
    block.writeUInt32BE(stream.highest >>> 0, 8)
    block.writeUInt32BE(Math.round(stream.jitter) >>> 0, 12)
    if (this.#lastReport !== undefined) {
      block.writeUInt32BE(this.#lastReport.middle, 16)
      block.writeUInt32BE(Math.round((now - this.#lastReport.at) * 65.536) >>> 0, 20)
    }
    return block
  }
}

function senderInfo(now: number, sender: SenderStatistics): Buffer {
  const seconds = now / 1000 + NTP_EPOCH
  const info = Buffer.alloc(20)
  info.writeUInt32BE(Math.floor(seconds) >>> 0, 0)
  info.writeUInt32BE(Math.floor((seconds % 1) * 0x100000000) >>> 0, 4)
  info.writeUInt32BE(sender.timestamp, 8)
  info.writeUInt32BE(sender.packets >>> 0, 12)
  info.writeUInt32BE(sender.octets >>> 0, 16)
  return info
}

/** Every report must come with a name of its sender; the shortest is enough. */
function description(ssrc: number): Buffer {
  return section(DESCRIPTION, 1, ssrc, [Buffer.from([1, 3, 0x62, 0x6f, 0x74, 0, 0, 0])])
}

function section(type: number, count: number, ssrc: number, body: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(8)
  header[0] = 0x80 | count
  header[1] = type
  header.writeUInt32BE(ssrc, 4)
  const bytes = Buffer.concat([header, ...body])
  bytes.writeUInt16BE(bytes.length / 4 - 1, 2)
  return bytes
}
