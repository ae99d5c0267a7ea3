import type { GuestMessage, LinkFrame } from '@botcli/protocol'
import { BotError } from './errors.ts'
import { Gate } from './gate.ts'
import type { ClearResult } from './transport.ts'

/** How far a bot that waits may be ahead of the caller's ear. */
const AHEAD_MS = 1000
/** A bot with this much in the queue does not wait at all. */
const QUEUE_LIMIT_MS = 60_000
/** The longest piece that the link takes. */
const PIECE_MS = 100

/** Where sound goes. */
export interface PlaybackPort {
  send(message: GuestMessage): void
  sendAudioOut(epoch: number, samples: Int16Array): void
}

/**
 * The bot's sound on its way to the caller. It is sent within the host's credit and waits here beyond it. All counts are
 * samples of the current epoch, which ends with each clear.
 */
export class Playback {
  readonly #port: PlaybackPort
  readonly #rate: number
  readonly #room = new Gate()
  readonly #silence = new Gate()
  readonly #clears = new Map<number, (playedSamples: number) => void>()
  #queue: Int16Array[] = []
  #epoch = 0
  #unsent = 0
  #sent = 0
  #played = 0
  #limit = 0
  #over = false

  constructor(port: PlaybackPort, rate: number) {
    this.#port = port
    this.#rate = rate
  }

  get playedMs(): number {
    return this.#ms(this.#played)
  }

  get queuedMs(): number {
    return this.#ms(this.#unsent + this.#sent - this.#played)
  }

  /** Queues sound; resolves when the bot may go on. */
  async add(samples: Int16Array): Promise<void> {
    if (samples.length === 0) return
    if (this.queuedMs > QUEUE_LIMIT_MS) {
      throw new BotError(
        'flooded',
        `more than ${QUEUE_LIMIT_MS / 1000} seconds of sound are queued; await sendAudio() before sending more`,
      )
    }
    // A copy, because the bot may fill its buffer anew while this waits for credit.
    this.#queue.push(samples.slice())
    this.#unsent += samples.length
    this.#pump()
    while (this.queuedMs > AHEAD_MS) await this.#room.wait()
  }

  /** Drops what was not played. */
  clear(): Promise<ClearResult> {
    if (this.#over || this.#sent + this.#unsent === 0) return Promise.resolve({ playedMs: 0 })
    const playedSoFar = this.#played
    this.#epoch += 1
    const epoch = this.#epoch
    this.#drop()
    this.#port.send({ type: 'clear', epoch })
    return new Promise((resolve) => {
      this.#clears.set(epoch, (played) => resolve({ playedMs: this.#ms(Math.max(played, playedSoFar)) }))
    })
  }

  /** The host's answer to a clear. */
  cleared(epoch: number, playedSamples: number): void {
    this.#clears.get(epoch)?.(playedSamples)
    this.#clears.delete(epoch)
  }

  /** The host played something, or grants more. */
  progress(frame: Extract<LinkFrame, { kind: 'playback' }>): void {
    if (frame.epoch !== this.#epoch) return
    this.#played = Math.min(frame.played, this.#sent)
    this.#limit = frame.limit
    this.#pump()
    this.#wake()
  }

  /** Resolves when everything was played, cleared, or the session ended. */
  async drained(): Promise<void> {
    while (this.queuedMs > 0) await this.#silence.wait()
  }

  /** Lets go of everything that waits. */
  end(): void {
    this.#over = true
    const played = this.#played
    this.#drop()
    this.#played = played
    this.#sent = played
    for (const answer of this.#clears.values()) answer(0)
    this.#clears.clear()
  }

  #drop(): void {
    this.#queue = []
    this.#unsent = 0
    this.#sent = 0
    this.#played = 0
    this.#limit = 0
    this.#wake()
  }

  #wake(): void {
    if (this.queuedMs <= AHEAD_MS) this.#room.open()
    if (this.queuedMs === 0) this.#silence.open()
  }

  #pump(): void {
    const longest = (this.#rate * PIECE_MS) / 1000
    while (this.#sent < this.#limit) {
      const head = this.#queue[0]
      if (head === undefined) return
      const length = Math.min(head.length, this.#limit - this.#sent, longest)
      this.#sent += length
      this.#unsent -= length
      if (length === head.length) this.#queue.shift()
      else this.#queue[0] = head.subarray(length)
      // Last, because a host in the same process may answer before this returns.
      this.#port.sendAudioOut(this.#epoch, head.subarray(0, length))
    }
  }

  #ms(samples: number): number {
    return (samples * 1000) / this.#rate
  }
}
