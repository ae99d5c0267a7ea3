import { RTVI_VERSION, rtviMessage } from '@botcli/protocol'
import { describe, expect, it } from 'vitest'
import type { RtviRequest, TypedText } from './rtvi.ts'
import { RtviConversation } from './rtvi-conversation.ts'

/** A conversation with a record of everything that leaves it. */
function conversation(options: { readonly takesMessages?: boolean } = {}) {
  const sent: { type: string; id: string; data?: unknown }[] = []
  const passed: unknown[] = []
  const keys: string[] = []
  const failures: unknown[] = []
  let disconnects = 0
  const rtvi = new RtviConversation({
    send: (message) => sent.push(message),
    pass: (message) => {
      passed.push(message)
      return options.takesMessages ?? false
    },
    keys: (pressed) => keys.push(pressed),
    disconnect: () => {
      disconnects += 1
    },
    fail: (error) => failures.push(error),
  })
  return { rtvi, sent, passed, keys, failures, disconnects: () => disconnects }
}

const clientReady = (version?: unknown) => rtviMessage('client-ready', { version }, 'ready-id')

describe('the handshake', () => {
  it.each([
    ['2.2.0', RTVI_VERSION],
    ['2.0.0', RTVI_VERSION],
    ['1.4.2', '1.4.2'],
  ])('answers a client of %s with %s', (version, answered) => {
    const { rtvi, sent } = conversation()
    rtvi.receive(clientReady(version))
    expect(sent).toHaveLength(1)
    expect(sent[0]).toMatchObject({ type: 'bot-ready', id: 'ready-id', data: { version: answered } })
    expect(rtvi.clientVersion).toBe(version)
  })

  it.each(['3.0.0', 'two', undefined, 7])('warns a client of %s and goes on', (version) => {
    const { rtvi, sent } = conversation()
    rtvi.receive(clientReady(version))
    expect(sent.map(({ type }) => type)).toEqual(['error-response', 'bot-ready'])
    expect(sent[1]).toMatchObject({ data: { version: RTVI_VERSION } })
  })

  it('calls back after the answer, once, and at once for a late listener', () => {
    const { rtvi, sent } = conversation()
    const seen: number[] = []
    rtvi.onClientReady(() => seen.push(sent.length))
    rtvi.receive(clientReady('2.1.0'))
    rtvi.receive(clientReady('2.1.0'))
    expect(seen).toEqual([1])
    expect(sent).toHaveLength(2)
    rtvi.onClientReady(() => seen.push(-1))
    expect(seen).toEqual([1, -1])
  })
})

describe('what the client says', () => {
  it('is typed text', () => {
    const { rtvi, sent } = conversation()
    const texts: TypedText[] = []
    rtvi.onText((text) => texts.push(text))
    rtvi.receive(rtviMessage('send-text', { content: 'hello' }))
    rtvi.receive(
      rtviMessage('send-text', { content: 'x', options: { run_immediately: false, audio_response: false } }),
    )
    expect(texts).toEqual([
      { text: 'hello', runImmediately: true, audioResponse: true },
      { text: 'x', runImmediately: false, audioResponse: false },
    ])
    rtvi.receive(rtviMessage('send-text', { text: 'wrong' }, 'bad'))
    expect(sent).toMatchObject([{ type: 'error-response', id: 'bad' }])
  })

  it('is a request, answered once with its own id', () => {
    const { rtvi, sent } = conversation()
    const requests: RtviRequest[] = []
    rtvi.onRequest((request) => requests.push(request))
    rtvi.receive(rtviMessage('client-message', { t: 'weather', d: { city: 'Oslo' } }, 'a'))
    rtvi.receive(rtviMessage('client-message', { t: 'news' }, 'b'))
    const [weather, news] = requests
    expect(weather).toMatchObject({ type: 'weather', data: { city: 'Oslo' } })
    weather?.respond({ rain: true })
    news?.fail('no news')
    expect(sent).toMatchObject([
      { type: 'server-response', id: 'a', data: { t: 'weather', d: { rain: true } } },
      { type: 'error-response', id: 'b', data: { error: 'no news' } },
    ])
    expect(() => weather?.respond(1)).toThrow(/answered already/)
    expect(sent).toHaveLength(2)
  })

  it('is keys, one or many', () => {
    const { rtvi, sent, keys } = conversation()
    rtvi.receive(rtviMessage('dtmf', { buttons: ['1', '*', '#'] }))
    rtvi.receive(rtviMessage('dtmf', { button: '7' }))
    rtvi.receive(rtviMessage('dtmf', { button: 'Z' }, 'bad'))
    rtvi.receive(rtviMessage('dtmf', null, 'bad'))
    expect(keys).toEqual(['1*#', '7'])
    expect(sent).toMatchObject([
      { type: 'error-response', id: 'bad' },
      { type: 'error-response', id: 'bad' },
    ])
  })

  it('is the wish to stop', () => {
    const { rtvi, disconnects } = conversation()
    rtvi.receive(rtviMessage('disconnect-bot'))
    expect(disconnects()).toBe(1)
  })

  it.each(['client-message', 'send-text', 'ui-event'])('is refused if nobody listens for %s', (type) => {
    const { rtvi, sent } = conversation()
    rtvi.receive(rtviMessage(type, {}, 'x'))
    expect(sent).toMatchObject([{ type: 'error-response', id: 'x' }])
    const listening = conversation({ takesMessages: true })
    listening.rtvi.receive(rtviMessage(type, {}, 'x'))
    expect(listening.sent).toEqual([])
    expect(listening.passed).toHaveLength(1)
  })

  it('is passed on when it is not RTVI, and never answered', () => {
    const { rtvi, sent, passed } = conversation()
    const messages = [{ label: 'other', type: 'client-ready' }, 'text', null, 3, [], { type: 'x' }]
    for (const message of messages) rtvi.receive(message)
    expect(passed).toEqual(messages)
    expect(sent).toEqual([])
  })

  it('is an error when it is RTVI without a type or an id', () => {
    const { rtvi, sent } = conversation()
    rtvi.receive({ label: 'rtvi-ai', type: 'send-text' })
    rtvi.receive({ label: 'rtvi-ai', id: 5, type: 'send-text' })
    expect(sent).toMatchObject([
      { type: 'error', data: { fatal: false } },
      { type: 'error', data: { fatal: false } },
    ])
  })

  it('fails the session when a listener throws', () => {
    const { rtvi, failures } = conversation()
    const error = new Error('listener')
    rtvi.onText(() => {
      throw error
    })
    rtvi.receive(rtviMessage('send-text', { content: 'x' }))
    expect(failures).toEqual([error])
  })
})

describe('what the bot says', () => {
  it('has the fields that each version of the client reads', () => {
    const { rtvi, sent } = conversation()
    rtvi.receive(clientReady('2.1.0'))
    sent.length = 0
    rtvi.botOutput('Hello.')
    rtvi.botOutput('shown', { spoken: false })
    rtvi.userTranscription('hi')
    rtvi.userTranscription('h', { final: false })
    rtvi.userInput('typed')
    rtvi.error('broken', { fatal: true })
    expect(sent).toMatchObject([
      {
        type: 'bot-output',
        data: {
          text: 'Hello.',
          spoken: true,
          will_be_spoken: true,
          aggregated_by: 'sentence',
          segment_id: 1,
        },
      },
      { type: 'bot-output', data: { text: 'shown', spoken: false, spoken_status: 'new', segment_id: 2 } },
      { type: 'user-transcription', data: { text: 'hi', final: true, user_id: '' } },
      { type: 'user-transcription', data: { text: 'h', final: false } },
      { type: 'user-input', data: { text: 'typed', input_type: 'chat' } },
      { type: 'error', data: { error: 'broken', message: 'broken', fatal: true } },
    ])
  })

  it('is also told to a client of version 1 in its own words', () => {
    const { rtvi, sent } = conversation()
    rtvi.receive(clientReady('1.2.0'))
    sent.length = 0
    rtvi.userInput('typed')
    rtvi.botOutput('Hello.')
    rtvi.botOutput('shown', { spoken: false })
    expect(sent.map(({ type }) => type)).toEqual(['bot-output', 'bot-transcription', 'bot-output'])
  })

  it('is events without data', () => {
    const { rtvi, sent } = conversation()
    rtvi.userStartedSpeaking()
    rtvi.userStoppedSpeaking()
    rtvi.botStartedSpeaking()
    rtvi.botInterrupted()
    rtvi.botStoppedSpeaking()
    rtvi.serverMessage({ any: 'thing' })
    rtvi.send('custom')
    expect(sent.map(({ type }) => type)).toEqual([
      'user-started-speaking',
      'user-stopped-speaking',
      'bot-started-speaking',
      'bot-interrupted',
      'bot-stopped-speaking',
      'server-message',
      'custom',
    ])
    expect(sent[0]).not.toHaveProperty('data')
    expect(sent[5]?.data).toEqual({ any: 'thing' })
  })
})
