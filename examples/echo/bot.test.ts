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
  it.each(TRANSPORT_IDS)('echoes sound, keys and messages on %s', async (transport) => {
    const { host, messages, frames, formatted, hangUp } = call(transport)
    await formatted
    host.sendPlayback(0, 0, 16_000)
    host.sendAudioIn(0, sound)
    host.send({ type: 'dtmf', keys: '5#' })
    host.send({ type: 'message', data: { any: 'thing' } })
    await vi.waitFor(() => expect(frames).toContainEqual({ kind: 'audioOut', epoch: 0, samples: sound }))
    await vi.waitFor(() => expect(messages).toContainEqual({ type: 'message', data: { any: 'thing' } }))
    expect(messages).toContainEqual({ type: 'dtmf', keys: '5#' })
    expect(await hangUp()).toEqual({ ok: true })
  })

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

  it('leaves sound out when it would be late', async () => {
    const { host, messages, frames, formatted, hangUp } = call('websocket')
    await formatted
    for (let index = 0; index < 50; index += 1) host.sendAudioIn(index * 20, sound)
    host.send({ type: 'ping', id: 1 })
    await vi.waitFor(() => expect(messages.some(({ type }) => type === 'pong')).toBe(true))
    host.sendPlayback(0, 0, 160_000)
    await vi.waitFor(() => expect(frames.some(({ kind }) => kind === 'audioOut')).toBe(true))
    const sent = frames.reduce(
      (total, frame) => total + (frame.kind === 'audioOut' ? frame.samples.length : 0),
      0,
    )
    expect(sent).toBeLessThanOrEqual((16_000 * 220) / 1000)
    await hangUp()
  })
})
