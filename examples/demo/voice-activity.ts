const BLOCK_MS = 20

// Amplitudes are root mean squares of 16-bit samples; a calm voice is about 1000 to 3000.
const QUIETEST_FLOOR = 40
const START_OVER_FLOOR = 3.2
const START_OVER_ECHO = 1.6
const STOP_BELOW_START = 0.6

const FLOOR_WINDOW_BLOCKS = 3000 / BLOCK_MS
const START_BLOCKS = 80 / BLOCK_MS
const START_BLOCKS_OVER_BOT = 200 / BLOCK_MS
// A quiet block takes back half of what a loud one proves: there is silence inside consonants.
const GAP_COST = 0.5
const MAX_CANDIDATE_BLOCKS = 2000 / BLOCK_MS
const HANGOVER_BLOCKS = 600 / BLOCK_MS
const PRE_ROLL_BLOCKS = 500 / BLOCK_MS
const TAIL_BLOCKS = 120 / BLOCK_MS
const MAX_RECORDED_BLOCKS = 15_000 / BLOCK_MS
const ECHO_LEARNING_BLOCKS = 1000 / BLOCK_MS
const ECHO_RISE = 1.5
// The echo fades from memory by half in four seconds of the bot's speech.
const ECHO_DECAY = 0.5 ** (BLOCK_MS / 4000)

/** What the caller said, as far as one can tell without understanding it. */
export interface HeardSpeech {
  /** The sound with a little room around it; the end is missing from a very long speech. */
  readonly sound: Int16Array
  readonly durationMs: number
  /** Root mean square of the voiced parts, as 16-bit samples. */
  readonly loudness: number
}

/** The caller began to speak, or has been silent for long enough to have finished. */
export type VoiceEvent =
  | { readonly type: 'started' }
  | { readonly type: 'stopped'; readonly speech: HeardSpeech }

interface Block {
  readonly samples: Int16Array
  readonly level: number
}

/**
 * Finds speech in a stream of sound by its energy.
 *
 * The floor is the quietest moment of the last seconds: speech has gaps, noise has none. Voice is what stays
 * well over the floor for a moment. While the bot itself can be heard, its echo is measured too, and
 * only a voice that stays over both for longer counts.
 */
export class VoiceActivity {
  readonly #blockSize: number
  #pending = new Int16Array(0)

  readonly #recentLevels: number[] = []
  #echo = 0
  #echoLearnt = 0

  // Blocks that may turn out to be the beginning of speech, and how much speaks for it.
  #candidate: Block[] = []
  #evidence = 0
  #before: Block[] = []
  #speech: Block[] | undefined
  #speechBlocks = 0
  #silentBlocks = 0
  #voiced = { power: 0, blocks: 0 }

  /** Phones take the bot's echo out of what they send, so there is none to learn. */
  constructor(sampleRate: number, { hasEcho = true } = {}) {
    if (!hasEcho) this.#echoLearnt = ECHO_LEARNING_BLOCKS
    this.#blockSize = (sampleRate * BLOCK_MS) / 1000
  }

  /** True between `started` and `stopped`. */
  get speaking(): boolean {
    return this.#speech !== undefined
  }

  /** Takes in sound of any length. `overBot` says that the bot can be heard at the same time. */
  hear(samples: Int16Array, overBot: boolean): VoiceEvent[] {
    const events: VoiceEvent[] = []
    const all = new Int16Array(this.#pending.length + samples.length)
    all.set(this.#pending)
    all.set(samples, this.#pending.length)
    let at = 0
    for (; at + this.#blockSize <= all.length; at += this.#blockSize) {
      const event = this.#take(all.slice(at, at + this.#blockSize), overBot)
      if (event !== undefined) events.push(event)
    }
    this.#pending = all.slice(at)
    return events
  }

  /** The stream stopped: what was being said is over. */
  stop(): VoiceEvent[] {
    return this.#speech === undefined ? [] : [this.#finish(this.#speech)]
  }

  #take(samples: Int16Array, overBot: boolean): VoiceEvent | undefined {
    const block = { samples, level: levelOf(samples) }
    this.#recentLevels.push(block.level)
    if (this.#recentLevels.length > FLOOR_WINDOW_BLOCKS) this.#recentLevels.shift()
    const threshold = this.#startLevel(overBot)
    return this.#speech === undefined
      ? this.#awaitSpeech(block, threshold, overBot)
      : this.#follow(this.#speech, block, threshold)
  }

  #startLevel(overBot: boolean): number {
    const floor = Math.max(QUIETEST_FLOOR, Math.min(...this.#recentLevels))
    return Math.max(START_OVER_FLOOR * floor, overBot ? START_OVER_ECHO * this.#echo : 0)
  }

  #awaitSpeech(block: Block, threshold: number, overBot: boolean): VoiceEvent | undefined {
    const learning = overBot && this.#echoLearnt < ECHO_LEARNING_BLOCKS
    if (learning) this.#echoLearnt += 1
    this.#candidate.push(block)
    this.#evidence += block.level > threshold ? 1 : -GAP_COST
    if (this.#evidence <= 0 || this.#candidate.length > MAX_CANDIDATE_BLOCKS || learning) {
      this.#dismiss(overBot, learning)
      return undefined
    }
    return this.#evidence < (overBot ? START_BLOCKS_OVER_BOT : START_BLOCKS) ? undefined : this.#begin()
  }

  /** It was not the caller's voice; over the bot, it may have been the bot's. */
  #dismiss(overBot: boolean, learning: boolean): void {
    if (overBot) {
      const loudest = Math.max(...this.#candidate.map(({ level }) => level))
      // Short words of the caller end here too, and must not pass for an echo as loud as the caller.
      const believable = learning
        ? loudest
        : Math.min(loudest, ECHO_RISE * Math.max(this.#echo, QUIETEST_FLOOR))
      this.#echo = Math.max(ECHO_DECAY * this.#echo, believable)
    }
    this.#before = [...this.#before, ...this.#candidate].slice(-PRE_ROLL_BLOCKS)
    this.#forgetCandidate()
  }

  #forgetCandidate(): void {
    this.#candidate = []
    this.#evidence = 0
  }

  #begin(): VoiceEvent {
    this.#speech = [...this.#before, ...this.#candidate]
    this.#speechBlocks = this.#candidate.length
    this.#silentBlocks = 0
    this.#voiced = { power: 0, blocks: 0 }
    for (const block of this.#candidate) this.#countVoiced(block)
    this.#before = []
    this.#forgetCandidate()
    return { type: 'started' }
  }

  #follow(speech: Block[], block: Block, threshold: number): VoiceEvent | undefined {
    if (speech.length < MAX_RECORDED_BLOCKS) speech.push(block)
    this.#speechBlocks += 1
    if (block.level > STOP_BELOW_START * threshold) {
      this.#silentBlocks = 0
      this.#countVoiced(block)
      return undefined
    }
    this.#silentBlocks += 1
    return this.#silentBlocks < HANGOVER_BLOCKS ? undefined : this.#finish(speech)
  }

  #countVoiced(block: Block): void {
    this.#voiced.power += block.level ** 2
    this.#voiced.blocks += 1
  }

  #finish(speech: Block[]): VoiceEvent {
    const silence = Math.max(0, this.#silentBlocks - TAIL_BLOCKS)
    const kept = speech.length < MAX_RECORDED_BLOCKS ? speech.slice(0, speech.length - silence) : speech
    this.#speech = undefined
    return {
      type: 'stopped',
      speech: {
        sound: joined(kept, this.#blockSize),
        durationMs: (this.#speechBlocks - this.#silentBlocks) * BLOCK_MS,
        loudness: Math.sqrt(this.#voiced.power / this.#voiced.blocks),
      },
    }
  }
}

/** Root mean square around the mean, so that an offset of a cheap microphone does not count. */
function levelOf(samples: Int16Array): number {
  let sum = 0
  let squares = 0
  for (const sample of samples) {
    sum += sample
    squares += sample * sample
  }
  const mean = sum / samples.length
  return Math.sqrt(Math.max(0, squares / samples.length - mean * mean))
}

function joined(blocks: readonly Block[], blockSize: number): Int16Array {
  const sound = new Int16Array(blocks.length * blockSize)
  for (const [index, block] of blocks.entries()) sound.set(block.samples, index * blockSize)
  return sound
}
