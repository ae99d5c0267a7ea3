import { describe, expect, it } from 'vitest'
import { clauses } from './clauses.ts'
import { ABOUT, GREETING, HELP, KEY_HELP, PHONE_GREETING, PHRASES } from './phrases.ts'
import { inSeconds, type RuleContext, Rules } from './rules.ts'
import { randomNumbers } from './test-call.ts'

function rules(context: Partial<RuleContext> = {}): Rules {
  return new Rules({
    date: () => new Date(2025, 10, 15, 15, 5),
    random: randomNumbers(3),
    canEcho: () => true,
    ...context,
  })
}

function heard(durationMs: number, loudness = 2000) {
  return { sound: new Int16Array(0), durationMs, loudness }
}

describe('answers to typed text', () => {
  it.each([
    ['help', HELP],
    ['What can you do?', HELP],
    ['?', HELP],
    ['what time is it', 'It is 3:05 PM here.'],
    ['Which day is it today?', 'It is Saturday, November 15, 2025.'],
    ['count to 3', 'one, two, three.'],
    ['Count', 'one, two, three, four, five.'],
    ['count to 0', 'I can only count up from one.'],
    ['count to -5', 'I can only count up from one.'],
    ['repeat The time is up', 'The time is up'],
    ['say: goodbye moon', 'goodbye moon'],
    ['repeat 你好', 'I would, but my voice knows only English letters.'],
  ])('%s', (text, answer) => {
    expect(rules().toText(text)).toEqual({ say: answer })
  })

  it.each([
    ['Hello there', PHRASES.hello],
    ['  hi ', PHRASES.hello],
    ['tell me a joke', PHRASES.joke],
    ['flip a coin', PHRASES.coin],
    ['thank you', PHRASES.thanks],
    ['xyzzy', PHRASES.unknown],
    ['', PHRASES.unknown],
    ['sometimes this is highly unusual', PHRASES.unknown],
  ] as const)('%s', (text, phrases) => {
    expect(phrases).toContain(rules().toText(text).say)
  })

  it('stops counting at twenty, whatever is asked for', () => {
    const answer = rules().toText(`count to ${'9'.repeat(400)}`)
    expect(answer.say).toMatch(/^I will stop at twenty\. one, .* twenty\.$/)
  })

  it('repeats no more than a short paragraph', () => {
    expect(rules().toText(`repeat ${'word '.repeat(1000)}`).say.length).toBe(300)
  })

  it('plays the voice back only when there is one', () => {
    expect(rules().toText('echo').afterwards).toBe('echo')
    expect(rules({ canEcho: () => false }).toText('echo')).toEqual({ say: PHRASES.nothingHeard[0] })
  })

  it('ends the call on a goodbye', () => {
    expect(rules().toText('ok bye').afterwards).toBe('goodbye')
  })
})

describe('answers to keys', () => {
  it('knows its commands', () => {
    expect(rules().toKeys('0')).toEqual({ say: KEY_HELP })
    expect(rules().toKeys('1').afterwards).toBe('echo')
    expect(rules().toKeys('2').say).toContain('3:05 PM')
    expect(rules().toKeys('#').afterwards).toBe('goodbye')
  })

  it('spells every other key, and several at once', () => {
    expect(rules().toKeys('7').say).toBe('You pressed 7.')
    expect(rules().toKeys('12*#A').say).toBe('You pressed 1, 2, star, hash, A.')
  })
})

describe('answers to speech', () => {
  it('tells the length', () => {
    expect(rules().toSpeech(heard(2345), false).say).toContain('2.3 seconds')
  })

  it('tells short, long, loud and quiet apart', () => {
    const opening = (durationMs: number, loudness?: number): string =>
      rules().toSpeech(heard(durationMs, loudness), false).say
    const all = [opening(2000), opening(300), opening(20_000), opening(2000, 12_000), opening(2000, 200)]
    expect(new Set(all).size).toBe(all.length)
  })

  it('never says the same twice in a row, and hints only now and then', () => {
    const subject = rules()
    const said = Array.from({ length: 30 }, () => subject.toSpeech(heard(2000), false).say)
    for (const [index, text] of said.slice(1).entries()) expect(text).not.toBe(said[index])
    expect(said.filter((text) => text.includes('type echo')).length).toBe(10)
  })

  it('admits that it was interrupted', () => {
    const text = rules().toSpeech(heard(2000), true).say
    expect(PHRASES.interrupted.some((phrase) => text.startsWith(phrase))).toBe(true)
  })
})

describe('phrases', () => {
  it('can all be said as they are written, and are cut only where one would breathe', () => {
    for (const phrase of [
      GREETING,
      PHONE_GREETING,
      HELP,
      KEY_HELP,
      ABOUT,
      ...Object.values(PHRASES).flat(),
    ]) {
      const text = phrase.replace('{length}', '2.3 seconds')
      expect(clauses(text).join(' ')).toBe(text)
      for (const clause of clauses(text)) expect(clause).toMatch(/[.,!?]$/)
    }
  })
})

describe('inSeconds', () => {
  it('is as exact as people speak', () => {
    expect([400, 1000, 2345, 9960, 12_345].map(inSeconds)).toEqual([
      '0.4 seconds',
      '1 second',
      '2.3 seconds',
      '10 seconds',
      '12 seconds',
    ])
  })
})
