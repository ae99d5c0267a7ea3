import { describe, expect, it } from 'vitest'
import { randomNumbers, speech } from './test-call.ts'
import { VOICE_SAMPLE_RATE, Voice } from './voice.ts'
import { VoiceActivity, type VoiceEvent } from './voice-activity.ts'

const voice = new Voice()
const random = randomNumbers(1)

function samplesIn(ms: number): number {
  return (ms * VOICE_SAMPLE_RATE) / 1000
}

function noise(ms: number, level: number): Int16Array {
  return Int16Array.from({ length: samplesIn(ms) }, () => (random() - 0.5) * Math.sqrt(12) * level)
}

function mixed(sound: Int16Array, level: number): Int16Array {
  const background = noise((sound.length * 1000) / VOICE_SAMPLE_RATE, level)
  return sound.map((sample, at) => sample + (background[at] ?? 0))
}

function tone(ms: number, level: number): Int16Array {
  return Int16Array.from({ length: samplesIn(ms) }, (_, at) => Math.sin(at / 8) * level * Math.SQRT2)
}

function hearAll(activity: VoiceActivity, sounds: readonly Int16Array[], overBot = false): VoiceEvent[] {
  return sounds.flatMap((sound) => activity.hear(sound, overBot))
}

function types(events: readonly VoiceEvent[]): string[] {
  return events.map((event) => event.type)
}

describe('voice activity', () => {
  it.each([0, 20, 150, 400])('finds one sentence in noise of level %i', async (level) => {
    const said = await speech(voice, 'Good morning, can you hear me?')
    const events = hearAll(new VoiceActivity(VOICE_SAMPLE_RATE), [
      noise(1000, level),
      mixed(said, level),
      noise(1000, level),
    ])
    expect(types(events)).toEqual(['started', 'stopped'])
    const stopped = events[1]
    if (stopped?.type !== 'stopped') throw new Error('It has not stopped.')
    const saidMs = (said.length * 1000) / VOICE_SAMPLE_RATE
    expect(Math.abs(stopped.speech.durationMs - saidMs)).toBeLessThan(600)
    expect(stopped.speech.loudness).toBeGreaterThan(1000)
  })

  it.each([0, 20, 400, 3000])('hears nobody in noise of level %i', (level) => {
    expect(hearAll(new VoiceActivity(VOICE_SAMPLE_RATE), [noise(8000, level)])).toEqual([])
  })

  it('finds the same in pieces of any length', async () => {
    const said = await speech(voice, 'Good morning.')
    const sound = Int16Array.from([...noise(500, 20), ...mixed(said, 20), ...noise(1000, 20)])
    const whole = new VoiceActivity(VOICE_SAMPLE_RATE).hear(sound, false)
    const activity = new VoiceActivity(VOICE_SAMPLE_RATE)
    const pieces: VoiceEvent[] = []
    for (let at = 0; at < sound.length; at += 137)
      pieces.push(...activity.hear(sound.subarray(at, at + 137), false))
    expect(types(whole)).toEqual(['started', 'stopped'])
    expect(pieces).toEqual(whole)
  })

  it('keeps what came before it was sure, and leaves out the long silence after', async () => {
    const said = await speech(voice, 'Good morning.')
    const events = hearAll(new VoiceActivity(VOICE_SAMPLE_RATE), [noise(1000, 10), said, noise(1000, 10)])
    const stopped = events.find((event) => event.type === 'stopped')
    const sound = stopped?.speech.sound ?? new Int16Array(0)
    const loudestAt = said.indexOf(Math.max(...said))
    expect(sound.indexOf(Math.max(...said))).toBeGreaterThan(loudestAt)
    expect(sound.length).toBeLessThan(said.length + samplesIn(700))
  })

  it('does not take a pause between two words for the end', () => {
    const activity = new VoiceActivity(VOICE_SAMPLE_RATE)
    const events = hearAll(activity, [
      noise(500, 20),
      tone(400, 2000),
      noise(400, 20),
      tone(400, 2000),
      noise(1000, 20),
    ])
    expect(types(events)).toEqual(['started', 'stopped'])
  })

  it('ignores a click and a constant offset', () => {
    const activity = new VoiceActivity(VOICE_SAMPLE_RATE)
    const offset = noise(2000, 20).map((sample) => sample + 4000)
    expect(hearAll(activity, [noise(1000, 20), tone(40, 8000), noise(1000, 20)])).toEqual([])
    expect(hearAll(new VoiceActivity(VOICE_SAMPLE_RATE), [offset])).toEqual([])
  })

  it('gets used to noise that starts and stays', () => {
    const activity = new VoiceActivity(VOICE_SAMPLE_RATE)
    const events = hearAll(activity, [noise(1000, 20), noise(6000, 600)])
    expect(types(events)).toEqual(['started', 'stopped'])
    expect(hearAll(activity, [noise(5000, 600)])).toEqual([])
  })

  it('bounds what it keeps of an endless speech', () => {
    const activity = new VoiceActivity(VOICE_SAMPLE_RATE)
    const sounds = Array.from({ length: 100 }, () => [tone(300, 2000), noise(100, 20)]).flat()
    const events = hearAll(activity, [noise(500, 20), ...sounds, noise(1000, 20)])
    expect(types(events)).toEqual(['started', 'stopped'])
    const stopped = events.find((event) => event.type === 'stopped')
    expect(stopped?.speech.durationMs).toBeGreaterThan(39_000)
    expect(stopped?.speech.sound.length).toBe(samplesIn(15_000))
  })

  it('ends what was being said when the stream stops', () => {
    const activity = new VoiceActivity(VOICE_SAMPLE_RATE)
    expect(activity.stop()).toEqual([])
    expect(types(hearAll(activity, [noise(500, 20), tone(400, 2000)]))).toEqual(['started'])
    expect(activity.speaking).toBe(true)
    expect(types(activity.stop())).toEqual(['stopped'])
    expect(activity.speaking).toBe(false)
  })
})

describe('voice activity while the bot speaks', () => {
  it('takes a short sound for no interruption, though it would do in silence', () => {
    const sounds = [noise(1000, 20), tone(140, 2000), noise(300, 20)]
    expect(types(hearAll(new VoiceActivity(VOICE_SAMPLE_RATE), sounds))).toEqual(['started'])
    expect(hearAll(new VoiceActivity(VOICE_SAMPLE_RATE), sounds, true)).toEqual([])
  })

  it.each([0.05, 0.2, 0.5])('does not take the echo of the bot at %f for the caller', async (echo) => {
    const said = await speech(
      voice,
      'Hello! I am a small demo bot. I cannot understand spoken words, but I notice when you speak. Say something.',
      echo,
    )
    const activity = new VoiceActivity(VOICE_SAMPLE_RATE)
    expect(hearAll(activity, [noise(500, 20)])).toEqual([])
    expect(hearAll(activity, [mixed(said, 20)], true)).toEqual([])
  })

  it('hears the caller over the echo', async () => {
    const bot = await speech(
      voice,
      'I can tell the time and the date, tell a joke, flip a coin, and count.',
      0.1,
    )
    const caller = await speech(voice, 'Stop, please stop talking now!')
    const sound = bot.map((sample, at) => sample + (caller[at - samplesIn(2000)] ?? 0))
    const activity = new VoiceActivity(VOICE_SAMPLE_RATE)
    expect(hearAll(activity, [noise(500, 20)])).toEqual([])
    expect(types(hearAll(activity, [mixed(sound, 20), noise(1000, 20)], true))).toEqual([
      'started',
      'stopped',
    ])
  })

  it('is not made deaf by short words of the caller', () => {
    const activity = new VoiceActivity(VOICE_SAMPLE_RATE)
    const words = Array.from({ length: 3 }, () => [tone(140, 2000), noise(400, 20)]).flat()
    expect(hearAll(activity, [noise(1000, 20), ...words], true)).toEqual([])
    expect(types(hearAll(activity, [tone(400, 2000)], true))).toEqual(['started'])
  })
})
