import { isVoiced, silence } from '@botcli/audio'
import { OpusDecoder } from './opus.ts'
import { type OrderedPacket, ReorderBuffer } from './reorder-buffer.ts'
import { isRtcp, parseRtp, RTP_CLOCK_RATE, type RtpPacket, timestampDistance } from './rtp.ts'

const FRAME_MS = 20
/** Lost sound beyond this is filled with silence: made-up sound would drone. */
const MAX_CONCEALED_MS = 100
/** Time that a stream may jump ahead; beyond it the rest is forgotten. */
const MAX_FILL_MS = 1000
/** A quiet caller sends less. After this long without a packet its silence is told as it passes. */
const QUIET_AFTER_MS = 60
/** The same for one who was speaking: the network may only be slow, and a pause within a word would hurt. */
const CUT_OFF_AFTER_MS = 200
/** Long enough for every turn to end. */
const MAX_QUIET_MS = 5000
/** Sound may come this much faster than time passes, for clocks differ. */
const MAX_SPEED = 1.1
/** Sound that may come at once, after the network held it up. */
const MAX_BURST_MS = 3000

/** What the caller of a receiver gets. */
export interface RtpReceiverEvents {
  audio(samples: Int16Array, arrivedAt: number): void
}

/** Makes steady sound of the incoming RTP stream: in order, without holes where that can be helped. */
export class RtpReceiver {
  readonly #events: RtpReceiverEvents
  readonly #order = new ReorderBuffer()
  #payloadType: number | undefined
  #rate = 0
  #decoder: OpusDecoder | undefined
  #closed = false
  /** Where the sound so far ends, in the sender's time. */
  #endsAt: number | undefined
  #ssrc: number | undefined
  #heardAt = 0
  #voiced = false
  #concealedMs = 0
  /** Milliseconds of sound that may come now; a flood is not worth decoding. */
  #creditMs = MAX_BURST_MS
  #creditAt = 0

  constructor(events: RtpReceiverEvents) {
    this.#events = events
  }

  /** Milliseconds of lost sound that were filled in. */
  get concealedMs(): number {
    return this.#concealedMs
  }

  setPayloadType(payloadType: number): void {
    this.#payloadType = payloadType
  }

  /** Sound that comes before this is done is dropped. */
  async setRate(rate: number): Promise<void> {
    const decoder = await OpusDecoder.create(rate)
    if (this.#closed) {
      decoder.close()
      return
    }
    this.#decoder?.close()
    this.#decoder = decoder
    this.#rate = rate
  }

  /** Takes a packet as it came. Whatever is not a packet of this stream is left out. */
  receive(bytes: Uint8Array, now: number): RtpPacket | undefined {
    if (isRtcp(bytes)) return undefined
    const packet = parseRtp(bytes)
    if (packet === undefined || packet.payloadType !== this.#payloadType) return undefined
    for (const ordered of this.#order.push(packet, now)) this.#play(ordered)
    return packet
  }

  /** Lets 20 ms pass: gives up waiting for lost packets, and tells the silence of a quiet caller. */
  step(now: number): void {
    for (const ordered of this.#order.expire(now)) this.#play(ordered)
    if (this.#decoder === undefined || this.#endsAt === undefined || this.#order.waiting) return
    const quietFor = now - this.#heardAt
    const patience = this.#voiced ? CUT_OFF_AFTER_MS : QUIET_AFTER_MS
    if (quietFor >= patience && quietFor <= MAX_QUIET_MS) this.#emitSilence(FRAME_MS, now)
  }

  close(): void {
    this.#closed = true
    this.#decoder?.close()
    this.#decoder = undefined
  }

  #play({ packet, arrivedAt, lost }: OrderedPacket): void {
    const decoder = this.#decoder
    if (decoder === undefined || packet.payload.length === 0 || !this.#hasCredit(arrivedAt)) return
    const continues = packet.ssrc === this.#ssrc && this.#endsAt !== undefined
    this.#ssrc = packet.ssrc
    if (continues) this.#bridge(decoder, packet, lost, arrivedAt)
    const samples = this.#decode(decoder, packet)
    this.#endsAt = (packet.timestamp + (samples.length * RTP_CLOCK_RATE) / this.#rate) >>> 0
    this.#heardAt = arrivedAt
    this.#voiced = isVoiced(samples)
    this.#emit(samples, arrivedAt)
  }

  /** Fills the time between the sound so far and this packet. */
  #bridge(decoder: OpusDecoder, packet: RtpPacket, lost: number, now: number): void {
    const gap = timestampDistance(packet.timestamp, this.#endsAt ?? packet.timestamp)
    const gapMs = Math.min(Math.floor((gap * 100) / RTP_CLOCK_RATE) * 10, MAX_FILL_MS)
    if (gapMs <= 0) return
    const lostMs = Math.min(lost * FRAME_MS, gapMs)
    const concealedMs = Math.min(lostMs, MAX_CONCEALED_MS)
    this.#concealedMs += lostMs
    if (concealedMs > FRAME_MS) this.#emit(decoder.conceal(concealedMs - FRAME_MS), now)
    if (gapMs > concealedMs) this.#emitSilence(gapMs - concealedMs, now)
    if (concealedMs > 0) this.#emit(this.#recover(decoder, packet, Math.min(concealedMs, FRAME_MS)), now)
  }

  #recover(decoder: OpusDecoder, packet: RtpPacket, ms: number): Int16Array {
    try {
      return decoder.recover(packet.payload, ms)
    } catch {
      return decoder.conceal(ms)
    }
  }

  #decode(decoder: OpusDecoder, packet: RtpPacket): Int16Array {
    try {
      return decoder.decode(packet.payload)
    } catch {
      this.#concealedMs += FRAME_MS
      return decoder.conceal(FRAME_MS)
    }
  }

  #emitSilence(ms: number, now: number): void {
    this.#endsAt = ((this.#endsAt ?? 0) + (ms * RTP_CLOCK_RATE) / 1000) >>> 0
    this.#emit(silence((ms * this.#rate) / 1000), now)
  }

  #emit(samples: Int16Array, now: number): void {
    this.#creditMs -= (samples.length * 1000) / this.#rate
    this.#events.audio(samples, now)
  }

  #hasCredit(now: number): boolean {
    const earned = Math.max(0, now - this.#creditAt) * MAX_SPEED
    this.#creditMs = Math.min(MAX_BURST_MS, this.#creditMs + earned)
    this.#creditAt = now
    return this.#creditMs > 0
  }
}
