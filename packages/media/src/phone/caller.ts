import { isVoiced, msToSamples, Resampler, samplesToMs } from '@botcli/audio'
import type { Answer, CallHappening } from './call-events.ts'
import { joined, TURN_QUIET_MS } from './ear.ts'
import { speechLike, toneOf } from './speech.ts'

/** One thing that a caller does. */
export type CallerStep =
  /** Says this sound. `name` is how the time line calls it. */
  | { readonly do: 'say'; readonly samples: Int16Array; readonly rate: number; readonly name?: string }
  /** Says something that is built like speech. */
  | { readonly do: 'speech'; readonly ms: number }
  | { readonly do: 'tone'; readonly hertz: number; readonly ms: number }
  | { readonly do: 'keys'; readonly keys: string }
  | { readonly do: 'silence'; readonly ms: number }
  /** Waits until the bot has answered and is quiet; no longer than the limit for it to begin. */
  | { readonly do: 'waitForTurn'; readonly limitMs: number }
  /** Waits until the bot speaks, or until the limit. */
  | { readonly do: 'waitForVoice'; readonly limitMs: number }
  | { readonly do: 'hangUp' }

/** A key every so often; carriers need both the tone and the pause. */
const KEY_MS = 200
/** Brings the end of a sound out of the resampler's filter. */
const FLUSH_MS = 20
const MAX_KEYS = 256

/** What a caller knows of the bot. */
export interface BotVoice {
  readonly speaking: boolean
  /** When it last began to speak, and when it was last heard. */
  readonly beganAt: number | undefined
  readonly spokeAt: number | undefined
}

/** What a caller needs. */
export interface CallerOptions {
  readonly rate: number
  readonly stepMs: number
  readonly seed: number
  readonly script: readonly CallerStep[]
  readonly bot: () => BotVoice | undefined
  readonly tell: (at: number, happening: CallHappening) => void
  readonly press: (key: string) => void
  readonly hangUp: () => void
}

interface Utterance {
  readonly what: string
  readonly samples: Int16Array
  at: number
}

/** Follows a script, a step of time after the other. When nothing is left to do it is silent. */
export class Caller {
  readonly #options: CallerOptions
  readonly #stepSamples: number
  readonly #script: CallerStep[]
  #utterance: Utterance | undefined
  #keys = ''
  #nextKeyAt = 0
  #waitUntil: number | undefined
  #waitsForBot = false
  #waitsForVoice = false
  #waitsForKeys = false
  #said = 0
  /** When the caller last began to say something, and when the last of it was heard. */
  #beganAt: number | undefined
  #voicedUntil: number | undefined

  constructor(options: CallerOptions) {
    this.#options = options
    this.#stepSamples = msToSamples(options.stepMs, options.rate)
    this.#script = [...options.script]
  }

  /** Adds to the script. */
  add(steps: readonly CallerStep[]): void {
    this.#script.push(...steps)
  }

  /** How many things it has not said or pressed yet, or not to the end. */
  get unsaid(): number {
    const left = this.#script.filter((step) => ['say', 'speech', 'tone', 'keys'].includes(step.do)).length
    return left + (this.#utterance === undefined ? 0 : 1) + (this.#waitsForKeys && this.#keys !== '' ? 1 : 0)
  }

  /** Falls silent, in the middle of a word, and forgets the rest. */
  stop(): void {
    this.#script.length = 0
    this.#utterance = undefined
    this.#keys = ''
  }

  /** Presses keys besides the script. */
  press(keys: string): void {
    this.#keys = (this.#keys + keys).slice(0, MAX_KEYS)
  }

  /** How something that happens now lies to what was said last. */
  answerAt(now: number): Answer {
    if (this.#beganAt === undefined) return {}
    if (this.#utterance !== undefined || this.#voicedUntil === undefined || now < this.#voicedUntil) {
      return { whileSayingMs: Math.round(now - this.#beganAt) }
    }
    return { afterSaidMs: Math.round(now - this.#voicedUntil) }
  }

  /** The sound of the next step, which begins now. */
  step(now: number): Int16Array {
    this.#pressKeys(now)
    while (this.#isFree(now)) {
      const next = this.#script.shift()
      if (next === undefined) break
      this.#begin(next, now)
    }
    return this.#sound(now)
  }

  #isFree(now: number): boolean {
    if (this.#utterance !== undefined) return false
    if (this.#waitsForKeys && this.#keys !== '') return false
    if (this.#waitsForBot && this.#hears(now)) return false
    const isHeard = this.#waitsForVoice && this.#options.bot()?.speaking === true
    if (this.#waitUntil !== undefined && now < this.#waitUntil && !isHeard && !this.#hasAnswered())
      return false
    this.#waitsForKeys = false
    this.#waitsForBot = false
    this.#waitsForVoice = false
    this.#waitUntil = undefined
    return true
  }

  /** The bot is speaking, or may only be taking a breath. */
  #hears(now: number): boolean {
    const { speaking = false, spokeAt = Number.NEGATIVE_INFINITY } = this.#options.bot() ?? {}
    return speaking || now - spokeAt < TURN_QUIET_MS
  }

  /** The bot has begun to speak since the caller did, or went on after the caller. */
  #hasAnswered(): boolean {
    const { beganAt, spokeAt } = this.#options.bot() ?? {}
    if (!this.#waitsForBot || beganAt === undefined || spokeAt === undefined) return false
    return beganAt >= (this.#beganAt ?? 0) || spokeAt >= (this.#voicedUntil ?? 0)
  }

  #begin(step: CallerStep, now: number): void {
    const { rate, seed } = this.#options
    switch (step.do) {
      case 'say':
        this.#speak(step.name ?? 'sound', atRate(step.samples, step.rate, rate), now)
        break
      case 'speech':
        this.#said += 1
        this.#speak('generated speech', speechLike(step.ms, rate, seed + this.#said), now)
        break
      case 'tone':
        this.#speak(`a tone of ${step.hertz} Hz`, toneOf(step.hertz, step.ms, rate), now)
        break
      case 'keys':
        this.press(step.keys)
        this.#waitsForKeys = true
        this.#pressKeys(now)
        break
      case 'silence':
        this.#waitUntil = now + step.ms
        break
      case 'waitForTurn':
        this.#waitsForBot = true
        this.#waitUntil = now + step.limitMs
        break
      case 'waitForVoice':
        this.#waitsForVoice = true
        this.#waitUntil = now + step.limitMs
        break
      case 'hangUp':
        this.#options.hangUp()
    }
  }

  #speak(what: string, samples: Int16Array, now: number): void {
    this.#utterance = { what, samples, at: 0 }
    this.#beganAt = now
    this.#voicedUntil = undefined
    const ms = Math.round(samplesToMs(samples.length, this.#options.rate))
    this.#options.tell(now, { type: 'caller_started', what, ms })
  }

  #sound(now: number): Int16Array {
    const step = new Int16Array(this.#stepSamples)
    const utterance = this.#utterance
    if (utterance === undefined) return step
    const part = utterance.samples.subarray(utterance.at, utterance.at + this.#stepSamples)
    step.set(part)
    utterance.at += part.length
    const until = now + samplesToMs(part.length, this.#options.rate)
    if (isVoiced(part)) this.#voicedUntil = until
    if (utterance.at >= utterance.samples.length) {
      this.#utterance = undefined
      this.#voicedUntil ??= until
      this.#options.tell(until, { type: 'caller_stopped', what: utterance.what })
    }
    return step
  }

  #pressKeys(now: number): void {
    const key = this.#keys[0]
    if (key === undefined || now < this.#nextKeyAt) return
    this.#keys = this.#keys.slice(1)
    this.#nextKeyAt = now + KEY_MS
    if (this.#utterance === undefined) {
      // A key is something to answer to, too.
      this.#beganAt = now
      this.#voicedUntil = now
    }
    this.#options.press(key)
  }
}

function atRate(samples: Int16Array, from: number, to: number): Int16Array {
  if (from === to) return samples
  const resampler = new Resampler(from, to)
  return joined([resampler.process(samples), resampler.process(new Int16Array(msToSamples(FLUSH_MS, from)))])
}
