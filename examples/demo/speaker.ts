import type { Rtvi, Transport } from '@botcli/bot'
import type { Clock } from './clock.ts'
import type { SpokenClause } from './voice.ts'

/** What the speaker needs of a transport. */
export interface SpeakerTransport
  extends Pick<Transport, 'sendAudio' | 'clear' | 'drained' | 'queuedMs' | 'audioOutSampleRate'> {
  readonly rtvi: Pick<Rtvi, 'botStartedSpeaking' | 'botStoppedSpeaking' | 'botInterrupted' | 'botOutput'>
}

// The next clause is queued this long before the last one ends: late enough that its text appears when it
// is heard, early enough that nobody hears a gap.
const LEAD_MS = 300
const SHORTEST_WAIT_MS = 20
const STEP_MS = 500
// The way to the ear of the caller and back through the microphone, wireless headphones included.
const ECHO_TAIL_MS = 800

interface Turn {
  readonly stop: AbortController
  audible: boolean
}

/** The bot's mouth: it says one thing at a time and can be cut short. */
export class Speaker {
  readonly #transport: SpeakerTransport
  readonly #clock: Clock
  #turn: Turn | undefined
  #silentSince = Number.NEGATIVE_INFINITY

  constructor(transport: SpeakerTransport, clock: Clock) {
    this.#transport = transport
    this.#clock = clock
  }

  /** True from the decision to say something until the last of it was played. */
  get busy(): boolean {
    return this.#turn !== undefined
  }

  /** True while the caller, and so the caller's microphone, may hear the bot. */
  get audible(): boolean {
    return this.#turn?.audible === true || this.#clock.now() - this.#silentSince < ECHO_TAIL_MS
  }

  /**
   * Says what `script` gives, instead of whatever is being said now. Resolves to true when the caller heard
   * all of it, to false when it was cut short.
   */
  async say(script: (signal: AbortSignal) => AsyncIterable<SpokenClause>): Promise<boolean> {
    this.interrupt()
    const turn: Turn = { stop: new AbortController(), audible: false }
    const { signal } = turn.stop
    this.#turn = turn
    try {
      for await (const clause of script(signal)) {
        await this.#lastClauseNearlyOver(signal)
        if (signal.aborted) return false
        this.#begin(turn, clause.text)
        await this.#play(clause.sound, signal)
      }
      await unlessAborted(this.#transport.drained(), signal)
      return !signal.aborted
    } finally {
      if (this.#turn === turn) this.#end(turn)
    }
  }

  /** Stops in the middle of a word. True when there was anything to stop. */
  interrupt(): boolean {
    const turn = this.#turn
    if (turn === undefined) return false
    turn.stop.abort()
    if (turn.audible) {
      // It fails only when the session is over, and then nothing is played either.
      this.#transport.clear().catch(() => undefined)
      this.#transport.rtvi.botInterrupted()
    }
    this.#end(turn)
    return true
  }

  /** Gives up what is being said, because the session is over. */
  close(): void {
    this.#turn?.stop.abort()
    this.#turn = undefined
  }

  #begin(turn: Turn, text: string): void {
    if (!turn.audible) this.#transport.rtvi.botStartedSpeaking()
    turn.audible = true
    this.#transport.rtvi.botOutput(text, { spoken: true })
  }

  #end(turn: Turn): void {
    this.#turn = undefined
    if (!turn.audible) return
    this.#silentSince = this.#clock.now()
    this.#transport.rtvi.botStoppedSpeaking()
  }

  async #lastClauseNearlyOver(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#transport.queuedMs > LEAD_MS) {
      await this.#clock.sleep(Math.max(SHORTEST_WAIT_MS, this.#transport.queuedMs - LEAD_MS), signal)
    }
  }

  async #play(sound: Int16Array, signal: AbortSignal): Promise<void> {
    const step = (STEP_MS * this.#transport.audioOutSampleRate) / 1000
    for (let at = 0; at < sound.length && !signal.aborted; at += step) {
      await unlessAborted(this.#transport.sendAudio(sound.subarray(at, at + step)), signal)
    }
  }
}

/** Waits for `work`, but no longer than until `signal` is aborted; its failure counts only before that. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) {
    work.catch(() => undefined)
    return
  }
  let stop = (): void => undefined
  const aborted = new Promise<void>((resolve) => {
    stop = resolve
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
