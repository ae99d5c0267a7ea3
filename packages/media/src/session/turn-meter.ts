import type { TurnLatency } from '@botcli/protocol'

/** Sound of the bot that comes sooner than this after its last sound belongs to the same answer. */
const ANSWER_GAP_MS = 500

interface Question {
  readonly wireInMs: number
  readonly handedOverAt: number
}

interface Answer extends Question {
  readonly receivedAt: number
}

/**
 * Measures each answer where it happens: from the caller's last sound (or message) at the wire to the bot, in
 * the bot, and from the bot's first sound to the wire. Times are milliseconds of the session's clock.
 */
export class TurnMeter {
  #question: Question | undefined
  #answer: Answer | undefined
  #lastBotSoundAt = Number.NEGATIVE_INFINITY
  #turns = 0

  /** The caller said something that arrived then and was handed to the bot now. */
  asked(arrivedAt: number, now: number): void {
    this.#question = { wireInMs: now - arrivedAt, handedOverAt: now }
  }

  /** The bot was cut short: what it says next is an answer of its own. */
  interrupted(): void {
    this.#lastBotSoundAt = Number.NEGATIVE_INFINITY
    this.#answer = undefined
  }

  /** The bot has made a sound. */
  answered(now: number): void {
    const fresh = now - this.#lastBotSoundAt > ANSWER_GAP_MS
    this.#lastBotSoundAt = now
    if (!fresh || this.#question === undefined) return
    this.#answer = { ...this.#question, receivedAt: now }
    this.#question = undefined
  }

  /** Sound of the bot went out on the wire. Gives the turn that this completes. */
  sent(now: number): TurnLatency | undefined {
    const answer = this.#answer
    if (answer === undefined) return undefined
    this.#answer = undefined
    this.#turns += 1
    return {
      turn: this.#turns,
      wireInMs: rounded(answer.wireInMs),
      botMs: rounded(answer.receivedAt - answer.handedOverAt),
      wireOutMs: rounded(now - answer.receivedAt),
    }
  }
}

function rounded(ms: number): number {
  return Math.max(0, Math.round(ms * 10) / 10)
}
