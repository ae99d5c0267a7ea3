import { duplexPair } from 'node:stream'
import { type GuestResult, runGuest } from '@botcli/bot/guest'
import { type GuestMessage, hostPort, type LinkFrame, rtviMessage, TRANSPORT_IDS } from '@botcli/protocol'
import { describe, expect, it, vi } from 'vitest'
import { bot } from './bot.ts'

/** Runs the bot for a caller on a transport, over a link in memory. */
function call(transport: (typeof TRANSPORT_IDS)[number]) {
  const [hostStream, stream] = duplexPair()
  const messages: GuestMessage[] = []
  const frames: LinkFrame[] = []
  const host = hostPort(hostStream, {
    message: (message) => {
      messages.push(message)
      if (message.type === 'ready') {
        host.send({ type: 'start', start: { sessionId: 's', transport, body: {} } })
      }
    },
    frame: (frame) => frames.push(frame),
    closed: () => {},
  })
  const done = new Promise<GuestResult>((resolve) => {
    runGuest({ stream, loadBot: async () => bot, pid: 1, runtime: 'test', onDone: resolve })
  })
  const hangUp = async (): Promise<GuestResult> => {
    host.send({ type: 'cancel', cause: 'client_left', message: 'the caller left', deadlineMs: 5000 })
    await vi.waitFor(() => expect(messages.at(-1)).toEqual({ type: 'end', outcome: 'returned' }))
    host.close()
    return done
  }
  const formatted = vi.waitFor(() => expect(messages.some(({ type }) => type === 'format')).toBe(true))
  return { host, messages, frames, formatted, hangUp }
}

const sound = Int16Array.from({ length: 320 }, (_, index) => index)

describe('the echo bot', () => {
  it.each(TRANSPORT_IDS.filter((id) => id !== 'room'))(
    'echoes sound, keys and messages on %s',
    async (transport) => {
      const { host, messages, frames, formatted, hangUp } = call(transport)
      await formatted
      host.laterPlayback(0, 0, 16_000)
      host.flush()
      host.sendAudioIn(0, sound)
      host.send({ type: 'dtmf', keys: '5#' })
      host.send({ type: 'message', data: { any: 'thing' } })
      await vi.waitFor(() => expect(frames).toContainEqual({ kind: 'audioOut', epoch: 0, samples: sound }))
      await vi.waitFor(() => expect(messages).toContainEqual({ type: 'message', data: { any: 'thing' } }))
      expect(messages).toContainEqual({ type: 'dtmf', keys: '5#' })
      expect(await hangUp()).toEqual({ ok: true })
    },
  )

  it('answers requests and typed text', async () => {
    const { host, messages, formatted, hangUp } = call('webrtc')
    await formatted
    host.send({ type: 'message', data: rtviMessage('client-message', { t: 'ask', d: [1, 2] }, 'id-1') })
    host.send({ type: 'message', data: rtviMessage('send-text', { content: 'hello' }) })
    const said = () => messages.flatMap((message) => (message.type === 'message' ? [message.data] : []))
    await vi.waitFor(() => expect(said()).toHaveLength(3))
    expect(said()).toMatchObject([
      { type: 'server-response', id: 'id-1', data: { t: 'ask', d: [1, 2] } },
      { type: 'user-input', data: { text: 'hello' } },
      { type: 'bot-output', data: { text: 'hello', spoken: false } },
    ])
    await hangUp()
  })

  /** Lets the bot hear all this before any of it is played, and gives how much it sends back. */
  async function echoed(arrivals: readonly (readonly [at: number, samples: Int16Array])[]): Promise<number> {
    const { host, messages, frames, formatted, hangUp } = call('websocket')
    await formatted
    const settled = async (id: number) => {
      host.send({ type: 'ping', id })
      await vi.waitFor(() => expect(messages).toContainEqual(expect.objectContaining({ type: 'pong', id })))
    }
    for (const [at, samples] of arrivals) host.sendAudioIn(at, samples)
    await settled(1)
    host.laterPlayback(0, 0, 160_000)
    host.flush()
    await settled(2)
    const sent = frames.map((frame) => (frame.kind === 'audioOut' ? frame.samples.length : 0))
    await hangUp()
    return sent.reduce((total, length) => total + length, 0)
  }

  it('leaves sound out when it would be late', async () => {
    // A second of sound that comes all at once, as after a hiccup of the network.
    const sent = await echoed(Array.from({ length: 50 }, () => [0, sound]))
    expect(sent).toBeGreaterThan(0)
    expect(sent).toBeLessThanOrEqual((16_000 * 220) / 1000)
  })

  it('gives back every sample of a client that sends long chunks', async () => {
    // A chunk of 800 ms reaches the bot in pieces; each has the time at which it is due.
    const piece = new Int16Array(640)
    expect(await echoed(Array.from({ length: 20 }, (_, index) => [index * 40, piece]))).toBe(20 * 640)
  })
})
