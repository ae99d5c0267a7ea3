/** Frames on their way that the bot has not confirmed: half a second. */
const MAX_IN_FLIGHT = 25
/** Frames that wait here while the bot is behind: one second more. */
const MAX_WAITING = 50

interface WaitingFrame {
  readonly capturedAt: number
  readonly samples: Int16Array
}

/** The caller's sound on its way to the bot: a slow bot gets the newest, and what it missed is counted. */
export class Intake {
  readonly #rate: number
  readonly #maxFrameSamples: number
  readonly #send: (capturedAt: number, samples: Int16Array) => void
  readonly #waiting: WaitingFrame[] = []
  #sent = 0
  #heard = 0
  #receivedSamples = 0
  #droppedSamples = 0

  constructor(rate: number, send: (capturedAt: number, samples: Int16Array) => void) {
    this.#rate = rate
    this.#maxFrameSamples = (rate * 40) / 1000
    this.#send = send
  }

  get receivedMs(): number {
    return Math.round((this.#receivedSamples * 1000) / this.#rate)
  }

  get droppedMs(): number {
    return Math.round((this.#droppedSamples * 1000) / this.#rate)
  }

  /** Passes sound on, or keeps it for a bot that is behind. */
  push(capturedAt: number, samples: Int16Array): void {
    this.#receivedSamples += samples.length
    for (let offset = 0; offset < samples.length; offset += this.#maxFrameSamples) {
      const piece = samples.subarray(offset, offset + this.#maxFrameSamples)
      this.#waiting.push({ capturedAt: capturedAt + (offset * 1000) / this.#rate, samples: piece })
      this.#flush()
      if (this.#waiting.length > MAX_WAITING)
        this.#droppedSamples += this.#waiting.shift()?.samples.length ?? 0
    }
  }

  /** The bot has taken in this many frames. False when it claims more than it was sent. */
  confirm(frames: number): boolean {
    if (frames > this.#sent) return false
    this.#heard = Math.max(this.#heard, frames)
    this.#flush()
    return true
  }

  #flush(): void {
    while (this.#sent - this.#heard < MAX_IN_FLIGHT) {
      const frame = this.#waiting.shift()
      if (frame === undefined) return
      this.#sent += 1
      this.#send(frame.capturedAt, frame.samples)
    }
  }
}
