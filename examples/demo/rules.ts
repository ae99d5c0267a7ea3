import { speakable } from './clauses.ts'
import { ABOUT, HELP, KEY_HELP, NUMBERS, PHRASES } from './phrases.ts'
import type { HeardSpeech } from './voice-activity.ts'

/** What the bot does next: it says something, and perhaps plays the caller's voice back or ends the call. */
export interface Answer {
  readonly say: string
  readonly afterwards?: 'echo' | 'goodbye'
}

/** What an answer may depend on besides the question. */
export interface RuleContext {
  readonly date: () => Date
  /** A number from 0 up to 1, like `Math.random`. */
  readonly random: () => number
  /** Whether there is a voice of the caller to play back. */
  readonly canEcho: () => boolean
}

interface TextRule {
  readonly pattern: RegExp
  readonly answer: (match: RegExpMatchArray) => Answer
}

type PhraseName = keyof typeof PHRASES

const MAX_REPEATED_CHARACTERS = 300
const LOUD = 9000
const QUIET = 400
const SHORT_MS = 700
const LONG_MS = 8000
const HINT_EVERY = 3
const HINT = ' Press 1 or type echo, and I will play it back.'

/** Decides what to answer. It knows no words in speech, only in text. */
export class Rules {
  readonly #context: RuleContext
  readonly #lastPicks = new Map<PhraseName, string>()
  #speechesHeard = 0

  // The first rule that fits wins.
  readonly #textRules: readonly TextRule[] = [
    {
      pattern: /^(?:please )?(?:repeat|say)\b(?: after me)?:?\s+(.+)$/is,
      answer: ([, text]) => repeat(text),
    },
    { pattern: /\b(?:bye|goodbye|quit|exit|hang up)\b/i, answer: () => this.#goodbye() },
    { pattern: /\bcount(?: up)?(?: to)? +(-?\d+)\b/i, answer: ([, number]) => count(Number(number)) },
    { pattern: /\bcount\b/i, answer: () => count(5) },
    { pattern: /\b(?:echo|my (?:own )?voice|play(?: it)? back)\b/i, answer: () => this.#echo() },
    { pattern: /\b(?:joke|funny|laugh)\b/i, answer: () => ({ say: this.#pick('joke') }) },
    { pattern: /\b(?:coin|heads or tails)\b/i, answer: () => this.#coin() },
    { pattern: /\b(?:date|today|(?:what|which) day)\b/i, answer: () => this.#date() },
    { pattern: /\b(?:time|clock)\b/i, answer: () => this.#time() },
    { pattern: /\b(?:help|menu|what can you|commands?)\b|^\?+$/i, answer: () => ({ say: HELP }) },
    { pattern: /\b(?:who|what) are you\b|\byour name\b/i, answer: () => ({ say: ABOUT }) },
    { pattern: /\b(?:thanks|thank you)\b/i, answer: () => ({ say: this.#pick('thanks') }) },
    {
      pattern: /\b(?:hello|hi|hey|good (?:morning|afternoon|evening))\b/i,
      answer: () => ({ say: this.#pick('hello') }),
    },
  ]

  readonly #keyRules: ReadonlyMap<string, () => Answer> = new Map([
    ['0', () => ({ say: KEY_HELP })],
    ['1', () => this.#echo()],
    ['2', () => this.#time()],
    ['3', () => ({ say: this.#pick('joke') })],
    ['4', () => this.#coin()],
    ['5', () => count(5)],
    ['#', () => this.#goodbye()],
  ])

  constructor(context: RuleContext) {
    this.#context = context
  }

  /** The answer to typed text. */
  toText(text: string): Answer {
    const asked = text.trim()
    for (const { pattern, answer } of this.#textRules) {
      const match = asked.match(pattern)
      if (match !== null) return answer(match)
    }
    return { say: this.#pick('unknown') }
  }

  /** The answer to keys that the caller pressed: one key may be a command, anything else is spelled. */
  toKeys(keys: string): Answer {
    return this.#keyRules.get(keys)?.() ?? { say: `You pressed ${[...keys].map(keyName).join(', ')}.` }
  }

  /** The answer to speech, of which only length and loudness are known. */
  toSpeech(speech: HeardSpeech, interrupting: boolean): Answer {
    const hint = this.#speechesHeard % HINT_EVERY === 0 ? HINT : ''
    this.#speechesHeard += 1
    const opening = interrupting ? `${this.#pick('interrupted')} ` : ''
    const remark = this.#pick(kindOf(speech)).replace('{length}', inSeconds(speech.durationMs))
    return { say: `${opening}${remark}${hint}` }
  }

  #echo(): Answer {
    return this.#context.canEcho()
      ? { say: this.#pick('echo'), afterwards: 'echo' }
      : { say: this.#pick('nothingHeard') }
  }

  #goodbye(): Answer {
    return { say: this.#pick('goodbye'), afterwards: 'goodbye' }
  }

  // A fair coin may show the same side twice, so it is no varied phrase.
  #coin(): Answer {
    return { say: this.#context.random() < 0.5 ? PHRASES.coin[0] : PHRASES.coin[1] }
  }

  #time(): Answer {
    const date = this.#context.date()
    const hour = date.getHours() % 12 || 12
    const minute = String(date.getMinutes()).padStart(2, '0')
    return { say: `It is ${hour}:${minute} ${date.getHours() < 12 ? 'AM' : 'PM'} here.` }
  }

  #date(): Answer {
    const day = { weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' } as const
    return { say: `It is ${this.#context.date().toLocaleDateString('en-US', day)}.` }
  }

  /** One of the phrases of that name, and not the one that was picked last. */
  #pick(name: PhraseName): string {
    const phrases: readonly string[] = PHRASES[name]
    const others = phrases.filter((phrase) => phrases.length === 1 || phrase !== this.#lastPicks.get(name))
    const picked = others[Math.floor(this.#context.random() * others.length)] ?? ''
    this.#lastPicks.set(name, picked)
    return picked
  }
}

/** How long something took, in words that are pleasant to hear. */
export function inSeconds(ms: number): string {
  const seconds = ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000)
  return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
}

function kindOf(speech: HeardSpeech): PhraseName {
  if (speech.loudness > LOUD) return 'loudSpeech'
  if (speech.loudness < QUIET) return 'quietSpeech'
  if (speech.durationMs < SHORT_MS) return 'shortSpeech'
  return speech.durationMs > LONG_MS ? 'longSpeech' : 'speech'
}

function repeat(text = ''): Answer {
  if (speakable(text) === '') return { say: 'I would, but my voice knows only English letters.' }
  return { say: text.slice(0, MAX_REPEATED_CHARACTERS) }
}

function count(to: number): Answer {
  if (to < 1) return { say: 'I can only count up from one.' }
  const numbers = `${NUMBERS.slice(0, to).join(', ')}.`
  return { say: to > NUMBERS.length ? `I will stop at ${NUMBERS.at(-1)}. ${numbers}` : numbers }
}

function keyName(key: string): string {
  if (key === '*') return 'star'
  return key === '#' ? 'hash' : key
}
