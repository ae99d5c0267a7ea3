import { randomBytes } from 'node:crypto'
import { OpusEncoder, silencePacket } from './opus.ts'
import { buildRtp, RTP_CLOCK_RATE } from './rtp.ts'

const STEP_MS = 20
const STEP_TICKS = (RTP_CLOCK_RATE * STEP_MS) / 1000
/** Frames of silence after speech, so that the far end fades out instead of making something up. */
const TRAILING_SILENCE = 5
/** Steps from one sign of life to the next in silence. */
const KEEP_ALIVE_STEPS = 20
/** A clock that lags behind the real one by more is set right. */
const MAX_LAG_MS = 100

/** What a sender report tells. */
export interface SenderStatistics {
  readonly ssrc: number
  readonly packets: number
  readonly octets: number
  readonly timestamp: number
}

/** Makes the outgoing RTP stream: every call is one 20 ms step, whether there is sound or not. */
export class RtpSender {
  readonly #send: (packet: Buffer) => void
  readonly #ssrc = randomBytes(4).readUInt32BE()
  #payloadType = 0
  #sequence = randomBytes(2).readUInt16BE()
  #timestamp = randomBytes(4).readUInt32BE()
  #encoder: OpusEncoder | undefined
  #dueAt: number | undefined
  /** Steps since the last sound. */
  #silentSteps = TRAILING_SILENCE
  #packets = 0
  #octets = 0

  constructor(send: (packet: Buffer) => void) {
    this.#send = send
  }

  get ssrc(): number {
    return this.#ssrc
  }

  get statistics(): SenderStatistics {
    return {
      ssrc: this.#ssrc,
      packets: this.#packets,
      octets: this.#octets,
      timestamp: this.#timestamp,
    }
  }

  setPayloadType(payloadType: number): void {
    this.#payloadType = payloadType
  }

  setRate(rate: number): void {
    this.#encoder = new OpusEncoder(rate)
  }

  /** Sends one step of sound. */
  sound(samples: Int16Array, now: number): void {
    this.#advance(now)
    if (this.#encoder === undefined) return
    const first = this.#silentSteps > 0
    this.#silentSteps = 0
    this.#emit(this.#encoder.encode(samples), first)
  }

  /** Lets one silent step pass. */
  silent(now: number): void {
    this.#advance(now)
    if (this.#encoder === undefined) return
    this.#silentSteps += 1
    if (this.#silentSteps === 1) this.#emit(this.#encoder.encodeSilence(), false)
    else if (this.#silentSteps <= TRAILING_SILENCE || this.#silentSteps % KEEP_ALIVE_STEPS === 0) {
      this.#emit(silencePacket(), false)
    }
  }

  /** One step on; more when the steps themselves were held up. */
  #advance(now: number): void {
    const dueAt = this.#dueAt ?? now
    const lag = now - dueAt
    const missed = lag > MAX_LAG_MS ? Math.floor(lag / STEP_MS) : 0
    this.#dueAt = dueAt + (missed + 1) * STEP_MS
    this.#timestamp = (this.#timestamp + (missed + 1) * STEP_TICKS) >>> 0
  }

  #emit(payload: Uint8Array, marker: boolean): void {
    this.#packets += 1
    this.#octets += payload.length
    this.#send(
      buildRtp({
        payloadType: this.#payloadType,
        marker,
        sequence: this.#sequence,
        timestamp: this.#timestamp,
        ssrc: this.#ssrc,
        payload,
      }),
    )
    this.#sequence = (this.#sequence + 1) & 0xffff
  }
}
