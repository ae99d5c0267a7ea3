import { PhoneCall } from '@botcli/media/phone'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hears, overWebrtc, overWebsocket } from './conversations.ts'
import { House } from './house.ts'
import { melody } from './melody.ts'
import { MICROPHONE_RATE, spoken } from './microphone.ts'
import { withPipecat } from './with-pipecat.ts'

withPipecat('a bot that was written for the runner of pipecat-ai', (python) => {
  let house: House
  let question: Int16Array

  beforeAll(async () => {
    house = await House.start(python, 'stock_bot.py', {
      TELEPHONY_A_ACCOUNT_ID: 'AC00000000000000000000000000000000',
      TELEPHONY_A_AUTH_TOKEN: 'none',
      // The library hangs up by itself, at an address that is made of these; nobody is to be called from here.
      TWILIO_REGION: 'invalid',
      TWILIO_EDGE: 'invalid',
    })
    question = await spoken('Please tell me a story about a house.')
  })
  afterAll(() => house?.close())

  it.each([
    ['WebRTC', overWebrtc],
    ['its plain WebSocket', overWebsocket],
  ])('answers over %s', async (_, connect) => {
    house.openai.hear('Tell me a story.')
    const caller = await connect(house.runner)
    try {
      await hears(caller, 'Hello.')
      caller.say(question)
      await hears(caller, 'Once upon a time.')
      expect(house.openai.transcribed[0]).toBeGreaterThan(1000)
      const types = caller.messages.map(({ text }) => (JSON.parse(text) as { type: string }).type)
      expect(types).toContain('bot-ready')
      expect(types).toContain('user-transcription')
    } finally {
      caller.close()
    }
  })

  it('answers a phone call', async () => {
    house.openai.hear('Tell me a story.')
    const call = new PhoneCall({
      url: `${house.runner.url.replace('http', 'ws')}/ws`,
      carrier: 'telephony_a',
      limitMs: 60_000,
      script: [
        { do: 'waitForTurn', limitMs: 30_000 },
        { do: 'say', samples: question, rate: MICROPHONE_RATE },
        { do: 'waitForVoice', limitMs: 30_000 },
        { do: 'silence', ms: 2000 },
        { do: 'hangUp' },
      ],
    })
    const { heard, coding, violations } = await call.ended
    const said = melody(heard, coding.rate).map(({ said }) => said)
    expect(said).toEqual(['Hello.', 'Once upon a time.'])
    expect(violations).toEqual([])
  })
})
