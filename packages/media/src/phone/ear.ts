import { isVoiced, msToSamples, SampleQueue, samplesToMs } from '@botcli/audio'
import type { CallHappening } from './call-events.ts'

/** A carrier waits this long before it plays, so that a packet that is a little late makes no gap. */
const JITTER_MS = 60
/** Quiet for so long, the bot has finished. */
export const TURN_QUIET_MS = 700
/** More than a carrier keeps; what comes on top of it is lost. */
const MAX_WAITING_MS = 5 * 60_000
const MAX_MARKS = 1000

interface Turn {
  readonly startedAt: number
  voicedUntil: number
  gaps: number
  gapMs: number
  /** Where nothing could be played since the last voiced sound. */
  dryFrom: number
  dryMs: number
}

/** What an ear needs. */
export interface EarOptions {
  readonly rate: number
  readonly stepMs: number
  /** Where the recording stands when it begins to listen, in milliseconds. */
  readonly beganAt: number
  readonly tell: (at: number, happening: CallHappening) => void
}

/** Plays the bot's sound in real time, as a carrier does, and notices what a caller would. */
export class Ear {
  readonly #options: EarOptions
  readonly #queue = new SampleQueue()
  readonly #recording: Int16Array[] = []
  readonly #stepSamples: number
  #marks: { readonly name: string; readonly at: number }[] = []
  #steps = 0
  /** Samples taken in and played so far; marks are places between them. */
  #taken = 0
  #played = 0
  #playFrom: number | undefined
  #turn: Turn | undefined
  #turnAt: number | undefined
  #spokeAt: number | undefined

  constructor(options: EarOptions) {
    this.#options = options
    this.#stepSamples = msToSamples(options.stepMs, options.rate)
    this.#recording.push(new Int16Array(msToSamples(options.beganAt, options.rate)))
  }

  /** Where the recording ends, in milliseconds since the number was dialled. */
  get now(): number {
    return this.#options.beganAt + this.#steps * this.#options.stepMs
  }

  /** Nothing that was before this can still be found out: for a while a pause may be the end of a turn. */
  get certainUntil(): number {
    return Math.min(this.now, this.#turn?.voicedUntil ?? this.now)
  }

  get speaking(): boolean {
    return this.#turn !== undefined
  }

  /** When the bot last began to speak. */
  get beganAt(): number | undefined {
    return this.#turnAt
  }

  /** When the bot was last heard. */
  get spokeAt(): number | undefined {
    return this.#spokeAt
  }

  get unplayedMs(): number {
    return samplesToMs(this.#queue.length, this.#options.rate)
  }

  /** Everything that was heard since the number was dialled, silences included. */
  recording(): Int16Array {
    return joined(this.#recording)
  }

  /** Takes sound in that arrived now; false when it has no room for it. */
  push(samples: Int16Array, now: number): boolean {
    if (this.unplayedMs > MAX_WAITING_MS) return false
    this.#queue.push(samples)
    this.#taken += samples.length
    // A busy machine can leave our own time behind, and nothing is heard before it has arrived.
    this.#playFrom ??= Math.max(now, this.now) + JITTER_MS
    return true
  }

  /** Remembers a place; false when there are too many. */
  mark(name: string): boolean {
    if (this.#marks.length >= MAX_MARKS) return false
    this.#marks.push({ name, at: this.#taken })
    return true
  }

  /** Drops what was not played. Gives the marks behind it. */
  clear(): { readonly droppedMs: number; readonly marks: readonly string[] } {
    const droppedMs = this.unplayedMs
    this.#queue.clear()
    this.#played = this.#taken
    const marks = this.#marks.map(({ name }) => name)
    this.#marks = []
    if (droppedMs > 0) this.endTurn(true)
    return { droppedMs, marks }
  }

  /** Plays one step. Gives the marks that were reached. */
  step(): readonly string[] {
    const isPlaying = this.#playFrom !== undefined && this.now >= this.#playFrom
    const sound = isPlaying ? this.#queue.read(this.#stepSamples) : new Int16Array()
    if (isPlaying && this.#queue.length === 0 && sound.length < this.#stepSamples) this.#playFrom = undefined
    this.#played += sound.length
    this.#notice(sound)
    this.#record(sound)
    this.#steps += 1
    const reached = this.#marks.filter(({ at }) => at <= this.#played)
    this.#marks = this.#marks.filter(({ at }) => at > this.#played)
    return reached.map(({ name }) => name)
  }

  /** The turn is over, whatever could have come. */
  endTurn(cut: boolean): void {
    const turn = this.#turn
    if (turn === undefined) return
    this.#turn = undefined
    const { startedAt, voicedUntil, gaps, gapMs } = turn
    this.#options.tell(voicedUntil, { type: 'turn_ended', ms: voicedUntil - startedAt, gaps, gapMs, cut })
  }

  #notice(sound: Int16Array): void {
    const { stepMs, rate } = this.#options
    if (isVoiced(sound)) this.#noticeVoice()
    const turn = this.#turn
    if (turn === undefined) return
    const missingMs = stepMs - samplesToMs(sound.length, rate)
    if (missingMs > 0 && turn.dryMs === 0) turn.dryFrom = this.now + stepMs - missingMs
    turn.dryMs += missingMs
    if (this.now + stepMs - turn.voicedUntil >= TURN_QUIET_MS) this.endTurn(false)
  }

  #noticeVoice(): void {
    const { stepMs, tell } = this.#options
    this.#spokeAt = this.now
    if (this.#turn === undefined) {
      this.#turnAt = this.now
      tell(this.now, { type: 'turn_started' })
      this.#turn = {
        startedAt: this.now,
        voicedUntil: this.now + stepMs,
        gaps: 0,
        gapMs: 0,
        dryFrom: 0,
        dryMs: 0,
      }
      return
    }
    const turn = this.#turn
    if (turn.dryMs > 0) {
      turn.gaps += 1
      turn.gapMs += turn.dryMs
      tell(turn.dryFrom, { type: 'gap', ms: Math.round(turn.dryMs) })
    }
    turn.dryMs = 0
    turn.voicedUntil = this.now + stepMs
  }

  #record(sound: Int16Array): void {
    const step = new Int16Array(this.#stepSamples)
    step.set(sound)
    this.#recording.push(step)
  }
}

/** Pieces of sound, one after the other. */
export function joined(pieces: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
