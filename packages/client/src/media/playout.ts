/** How far ahead of now a new stretch of speech starts, so that late packets do not tear holes into it. */
const FIRST_LEAD_SECONDS = 0.08
/** What is added to the lead each time it was not enough, and how long it may get. */
const LEAD_STEP_SECONDS = 0.04
const LONGEST_LEAD_SECONDS = 0.2
/** A piece that comes this soon after the end of the one before was late; after that it is a new sentence. */
const LATE_SECONDS = 0.15
/** More than this ahead means that the sender does not keep time; the rest is dropped. */
const MOST_AHEAD_SECONDS = 10

/** Decides when each piece of a stream of sound is played: gapless while it flows, with a fresh lead after a pause. */
export class Playout {
  #end = 0
  #lead = FIRST_LEAD_SECONDS

  /** The time at which to start a piece, or `undefined` when too much is waiting already. */
  place(now: number, seconds: number): number | undefined {
    const start = this.#end > now ? this.#end : now + this.#nextLead(now)
    if (start - now > MOST_AHEAD_SECONDS) return undefined
    this.#end = start + seconds
    return start
  }

  /** Forgets what was placed. */
  clear(): void {
    this.#end = 0
  }

  #nextLead(now: number): number {
    const late = this.#end > 0 && now - this.#end < LATE_SECONDS
    if (late) this.#lead = Math.min(LONGEST_LEAD_SECONDS, this.#lead + LEAD_STEP_SECONDS)
    return this.#lead
  }
}
