/** Opus always counts time in 48000ths of a second on the wire. */
export const RTP_CLOCK_RATE = 48_000

const HEADER_BYTES = 12

/** One RTP packet, without what we do not use. */
export interface RtpPacket {
  readonly payloadType: number
  readonly marker: boolean
  readonly sequence: number
  readonly timestamp: number
  readonly ssrc: number
  readonly payload: Uint8Array
}

/** Whether bytes that came over the media path are RTCP, which shares it with RTP. */
export function isRtcp(bytes: Uint8Array): boolean {
  const type = bytes[1] ?? 0
  return type >= 192 && type <= 223
}

/** Reads a packet, or gives nothing when it is none. The payload is a view of `bytes`. */
export function parseRtp(bytes: Uint8Array): RtpPacket | undefined {
  if (bytes.length < HEADER_BYTES) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const first = view.getUint8(0)
  if (first >> 6 !== 2) return undefined
  const second = view.getUint8(1)
  let start = HEADER_BYTES + (first & 0x0f) * 4
  if ((first & 0x10) !== 0) {
    if (bytes.length < start + 4) return undefined
    start += 4 + view.getUint16(start + 2) * 4
  }
  let end = bytes.length
  if ((first & 0x20) !== 0) {
    const padding = view.getUint8(end - 1)
    if (padding === 0) return undefined
    end -= padding
  }
  if (start > end) return undefined
  return {
    payloadType: second & 0x7f,
    marker: (second & 0x80) !== 0,
    sequence: view.getUint16(2),
    timestamp: view.getUint32(4),
    ssrc: view.getUint32(8),
    payload: bytes.subarray(start, end),
  }
}

/** Spells a packet. */
export function buildRtp(packet: RtpPacket): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + packet.payload.length)
  bytes[0] = 0x80
  bytes[1] = packet.payloadType | (packet.marker ? 0x80 : 0)
  bytes.writeUInt16BE(packet.sequence, 2)
  bytes.writeUInt32BE(packet.timestamp, 4)
  bytes.writeUInt32BE(packet.ssrc, 8)
  bytes.set(packet.payload, HEADER_BYTES)
  return bytes
}

/** How far sequence number `a` is ahead of `b`, across the wrap: -32768 to 32767. */
export function sequenceDistance(a: number, b: number): number {
  return ((a - b) << 16) >> 16
}

/** How far timestamp `a` is ahead of `b`, across the wrap. */
export function timestampDistance(a: number, b: number): number {
  return (a - b) | 0
}
