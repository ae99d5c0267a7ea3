import { duplexPair } from 'node:stream'
import { runGuest } from '@botcli/bot/guest'
import {
  type BotStart,
  type GuestMessage,
  type HostMessage,
  hostPort,
  rtviMessage,
  TRANSPORT_IDS,
  type TransportId,
} from '@botcli/protocol'
import { describe, expect, it } from 'vitest'
import { VOICE_SAMPLE_RATE } from './voice.ts'

const AHEAD = VOICE_SAMPLE_RATE

/** The other end of the link, for which sound takes no time. */
class InstantHost {
  readonly messages: GuestMessage[] = []
  samplesPlayed = 0
  readonly done: Promise<unknown>
  readonly #port
  #epochSamples = 0
  #waiters: (() => void)[] = []

  constructor() {
    const [hostStream, guestStream] = duplexPair()
    this.#port = hostPort(hostStream, {
      message: (message) => this.#take(message),
      frame: (frame) => {
        if (frame.kind !== 'audioOut') return
        this.samplesPlayed += frame.samples.length
        this.#epochSamples += frame.samples.length
        const played = this.#epochSamples
        // Like a stream between processes, the answer never comes before the write has returned.
        setImmediate(() => this.#tellPosition(frame.epoch, played))
      },
      closed: () => undefined,
    })
    this.done = new Promise((resolve) => {
      runGuest({
        stream: guestStream,
        loadBot: async () => (await import('./bot.ts')).bot,
        pid: process.pid,
        runtime: 'test',
        onDone: resolve,
      })
    })
  }

  send(message: HostMessage): void {
    this.#port.send(message)
  }

  /** The first message that fits, past or future. */
  async received(fits: (message: GuestMessage) => boolean): Promise<GuestMessage> {
    for (;;) {
      const found = this.messages.find(fits)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => this.#waiters.push(resolve))
    }
  }

  #tellPosition(epoch: number, played: number): void {
    this.#port.laterPlayback(epoch, played, played + AHEAD)
    this.#port.flush()
  }

  #take(message: GuestMessage): void {
    this.messages.push(message)
    if (message.type === 'format') this.#tellPosition(0, 0)
    if (message.type === 'clear') {
      this.#port.send({ type: 'cleared', epoch: message.epoch, playedSamples: this.#epochSamples })
      this.#epochSamples = 0
      this.#tellPosition(message.epoch, 0)
    }
    if (message.type === 'end') this.#port.close()
    for (const wake of this.#waiters.splice(0)) wake()
  }
}

function startOf(transport: TransportId): BotStart {
  const base = { sessionId: 'session', transport, body: {} }
  if (transport === 'webrtc') return { ...base, webrtc: { pcId: 'peer' } }
  if (transport === 'room') return { ...base, room: { roomUrl: 'https://rooms.test/demo' } }
  return { ...base, websocket: { path: '/ws', remoteAddress: '127.0.0.1' } }
}

async function begin(transport: TransportId): Promise<InstantHost> {
  const host = new InstantHost()
  await host.received(({ type }) => type === 'ready')
  host.send({ type: 'start', start: startOf(transport) })
  await host.received(({ type }) => type === 'format')
  host.send({ type: 'connected' })
  return host
}

function isRtvi(message: GuestMessage, rtviType: string, text = ''): boolean {
  return (
    message.type === 'message' &&
    JSON.stringify(message.data).includes(`"type":"${rtviType}"`) &&
    JSON.stringify(message.data).includes(text)
  )
}

describe('the demo bot over a link', () => {
  it.each(TRANSPORT_IDS.filter((id) => id !== 'room'))(
    'greets, says goodbye and returns on %s',
    async (transport) => {
      const host = await begin(transport)
      if (!transport.startsWith('telephony')) {
        host.send({ type: 'message', data: rtviMessage('client-ready', { version: '2.1.0' }) })
      }
      await host.received((message) => isRtvi(message, 'bot-output', 'Hello!'))
      host.send({ type: 'dtmf', keys: '#' })
      await host.received((message) => isRtvi(message, 'bot-output', 'Goodbye'))
      expect(await host.received(({ type }) => type === 'end')).toEqual({ type: 'end', outcome: 'returned' })
      expect(host.samplesPlayed).toBeGreaterThan(VOICE_SAMPLE_RATE)
      await host.done
    },
  )

  it('answers typed text', async () => {
    const host = await begin('webrtc')
    host.send({ type: 'message', data: rtviMessage('client-ready', { version: '2.1.0' }) })
    await host.received((message) => isRtvi(message, 'bot-ready'))
    host.send({ type: 'message', data: rtviMessage('send-text', { content: 'repeat bananas' }) })
    await host.received((message) => isRtvi(message, 'bot-output', 'bananas'))
    host.send({ type: 'message', data: rtviMessage('send-text', { content: 'bye' }) })
    expect(await host.received(({ type }) => type === 'end')).toEqual({ type: 'end', outcome: 'returned' })
    await host.done
  })

  it('returns when the session is cancelled in the middle of a word', async () => {
    const host = await begin('telephony_a')
    await host.received((message) => isRtvi(message, 'bot-started-speaking'))
    host.send({ type: 'cancel', cause: 'client_left', message: 'The caller hung up.', deadlineMs: 10_000 })
    expect(await host.received(({ type }) => type === 'end')).toEqual({ type: 'end', outcome: 'returned' })
    await host.done
  })
})
