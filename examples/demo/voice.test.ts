import { describe, expect, it } from 'vitest'
import { VOICE_SAMPLE_RATE, Voice } from './voice.ts'

async function sayAll(voice: Voice, text: string): Promise<Int16Array[]> {
  const pieces: Int16Array[] = []
  for await (const clause of voice.speak(text)) pieces.push(clause.sound)
  return pieces
}

function seconds(pieces: readonly Int16Array[]): number {
  return pieces.reduce((total, piece) => total + piece.length, 0) / VOICE_SAMPLE_RATE
}

function rms(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)
}

describe('the voice', () => {
  it('says a sentence loudly enough, without clipping, and for a plausible time', async () => {
    const pieces = await sayAll(new Voice(), 'Hello, I am a bot on your own computer.')
    expect(seconds(pieces)).toBeGreaterThan(1.5)
    expect(seconds(pieces)).toBeLessThan(4.5)
    for (const piece of pieces) {
      expect(rms(piece)).toBeGreaterThan(1500)
      expect(Math.max(...piece)).toBeLessThan(32_000)
    }
  })

  it('starts with sound rather than silence', async () => {
    const [piece] = await sayAll(new Voice(), 'Yes.')
    expect(rms(piece?.subarray(0, VOICE_SAMPLE_RATE / 5) ?? new Int16Array(1))).toBeGreaterThan(500)
  })

  it('gives a long text in pieces of a few seconds', async () => {
    const pieces = await sayAll(
      new Voice(),
      'This is a rather long sentence without any comma that keeps going on and on until it has to stop somewhere.',
    )
    expect(pieces.length).toBeGreaterThan(1)
    for (const piece of pieces) expect(piece.length / VOICE_SAMPLE_RATE).toBeLessThan(4)
  })

  it('bounds what digits and capital letters cost', async () => {
    for (const text of ['9'.repeat(60), 'QWXZ'.repeat(15), '$%&+'.repeat(15)]) {
      for (const piece of await sayAll(new Voice(), text)) {
        expect(piece.length / VOICE_SAMPLE_RATE).toBeLessThan(5)
      }
    }
  })

  it('says the same thing the same way, from its cache or not', async () => {
    const voice = new Voice()
    const [first] = await sayAll(voice, 'Say that again.')
    const [cached] = await sayAll(voice, 'Say that again.')
    const [fresh] = await sayAll(new Voice(), 'Say that again.')
    expect(cached).toBe(first)
    expect(fresh).not.toBe(first)
    expect(fresh).toEqual(first)
  })

  it('says which words each piece holds', async () => {
    const texts: string[] = []
    for await (const clause of new Voice().speak('Hello. How are you?')) texts.push(clause.text)
    expect(texts).toEqual(['Hello.', 'How are you?'])
  })

  it('stops in the middle of a text when it is told to', async () => {
    const stop = new AbortController()
    const texts: string[] = []
    for await (const clause of new Voice().speak('One. Two. Three.', stop.signal)) {
      texts.push(clause.text)
      if (texts.length === 2) stop.abort()
    }
    expect(texts).toEqual(['One.', 'Two.'])
  })

  it('has its opening ready', async () => {
    const voice = await Voice.ready('Good morning.')
    const [first] = await sayAll(voice, 'Good morning.')
    const [second] = await sayAll(voice, 'Good morning.')
    expect(first?.length).toBeGreaterThan(0)
    expect(second).toBe(first)
  })

  it('is silent when there is nothing to say', async () => {
    expect(await sayAll(new Voice(), ' … 你好 !? ')).toEqual([])
  })

  it('survives odd texts one after the other', async () => {
    const voice = new Voice()
    for (const text of [
      '-t --help',
      'a',
      "'",
      'e.g. 3:45 p.m.',
      'C:\\path\\0 <speak>x</speak>',
      'Zoë — naïve “quote”',
    ]) {
      await sayAll(voice, text)
    }
    expect(seconds(await sayAll(voice, 'Still here.'))).toBeGreaterThan(0.5)
  })
})
