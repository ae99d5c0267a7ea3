import { setImmediate } from 'node:timers/promises'
import { clauses } from './clauses.ts'
import { FLITE_SAMPLE_RATE, loadFlite } from './flite.ts'

/** The rate of the sound that {@link Voice} makes; ask the transport for the same. */
export const VOICE_SAMPLE_RATE = FLITE_SAMPLE_RATE

const MAX_CACHED_CLAUSES = 24
const QUIET = 160
const LEAD_MS = 10
const TAIL_MS = 60
const PAUSE_MS = { sentence: 240, comma: 90, none: 0 } as const

/** A piece of speech: what is said, and how it sounds. */
export interface SpokenClause {
  readonly text: string
  readonly sound: Int16Array
}

/** Text to speech on this computer, with no key and no network. */
export class Voice {
  readonly #cache = new Map<string, Int16Array>()

  /** A voice that is loaded and can say `opening` without delay. */
  static async ready(opening: string): Promise<Voice> {
    const voice = new Voice()
    for (const clause of clauses(opening)) await voice.#say(clause)
    return voice
  }

  /**
   * Says a text, clause by clause: the first comes soon, and the event loop runs between them. Nothing more
   * is synthesised once `signal` is aborted.
   */
  async *speak(text: string, signal?: AbortSignal): AsyncGenerator<SpokenClause, void, undefined> {
    for (const clause of clauses(text)) {
      // Lets whatever is waiting come first; among it may be the word that stops this speech.
      await setImmediate()
      if (signal?.aborted) return
      yield { text: clause, sound: await this.#say(clause) }
    }
  }

  async #say(clause: string): Promise<Int16Array> {
    const known = this.#cache.get(clause)
    if (known !== undefined) {
      this.#remember(clause, known)
      return known
    }
    const flite = await loadFlite()
    const sound = paced(flite.synthesise(clause), clause)
    this.#remember(clause, sound)
    return sound
  }

  #remember(clause: string, sound: Int16Array): void {
    this.#cache.delete(clause)
    this.#cache.set(clause, sound)
    const oldest = this.#cache.keys().next()
    if (this.#cache.size > MAX_CACHED_CLAUSES && !oldest.done) this.#cache.delete(oldest.value)
  }
}

/** Trims Flite's long silences at both ends and leaves the pause that the punctuation asks for. */
function paced(sound: Int16Array, clause: string): Int16Array {
  const first = sound.findIndex((sample) => Math.abs(sample) > QUIET)
  if (first === -1) return new Int16Array(0)
  const last = sound.findLastIndex((sample) => Math.abs(sample) > QUIET)
  const from = Math.max(0, first - samplesIn(LEAD_MS))
  const to = Math.min(sound.length, last + samplesIn(TAIL_MS))
  const result = new Int16Array(to - from + samplesIn(pauseAfter(clause)))
  result.set(sound.subarray(from, to))
  return result
}

function pauseAfter(clause: string): number {
  if (/[.!?]["']?$/.test(clause)) return PAUSE_MS.sentence
  return /[,;:]$/.test(clause) ? PAUSE_MS.comma : PAUSE_MS.none
}

function samplesIn(ms: number): number {
  return Math.round((ms * VOICE_SAMPLE_RATE) / 1000)
}
