import { type RtpPacket, sequenceDistance } from './rtp.ts'

/** A packet in its turn, and how many before it never came. */
export interface OrderedPacket {
  readonly packet: RtpPacket
  readonly arrivedAt: number
  readonly lost: number
}

interface Held {
  readonly packet: RtpPacket
  readonly arrivedAt: number
}

/** Packets that may wait for an earlier one. */
const MAX_HELD = 3
/** How long they may wait. */
const MAX_WAIT_MS = 60
/** A jump beyond this is a new stream rather than a loss. */
const MAX_JUMP = 500

/** Puts packets in order. It holds back nothing while nothing is missing. */
export class ReorderBuffer {
  #next: number | undefined
  #ssrc: number | undefined
  #held: Held[] = []

  /** Takes a packet and gives the ones whose turn has come. */
  push(packet: RtpPacket, arrivedAt: number): OrderedPacket[] {
    const ahead = this.#next === undefined ? 0 : sequenceDistance(packet.sequence, this.#next)
    if (packet.ssrc !== this.#ssrc || Math.abs(ahead) > MAX_JUMP) {
      this.#ssrc = packet.ssrc
      this.#next = packet.sequence
      this.#held = [{ packet, arrivedAt }]
      return this.#inOrder()
    }
    if (ahead < 0 || this.#held.some((held) => held.packet.sequence === packet.sequence)) return []
    this.#held.push({ packet, arrivedAt })
    this.#held.sort((a, b) => sequenceDistance(a.packet.sequence, b.packet.sequence))
    return [...this.#inOrder(), ...this.expire(arrivedAt)]
  }

  /** Gives up on what is missing when others have waited for it long enough. */
  expire(now: number): OrderedPacket[] {
    const ordered: OrderedPacket[] = []
    while (this.#held.length >= MAX_HELD || this.#held.some((held) => now - held.arrivedAt >= MAX_WAIT_MS)) {
      ordered.push(...this.#skipGap())
    }
    return ordered
  }

  /** Whether a packet waits for an earlier one. */
  get waiting(): boolean {
    return this.#held.length > 0
  }

  #skipGap(): OrderedPacket[] {
    const [first] = this.#held
    if (first === undefined || this.#next === undefined) return []
    const lost = sequenceDistance(first.packet.sequence, this.#next)
    this.#next = first.packet.sequence
    const [head, ...rest] = this.#inOrder()
    return head === undefined ? [] : [{ ...head, lost }, ...rest]
  }

  #inOrder(): OrderedPacket[] {
    const ordered: OrderedPacket[] = []
    for (let first = this.#held[0]; first?.packet.sequence === this.#next; first = this.#held[0]) {
      if (first === undefined) break
      this.#held.shift()
      this.#next = (first.packet.sequence + 1) & 0xffff
      ordered.push({ ...first, lost: 0 })
    }
    return ordered
  }
}
