import { duplexPair } from 'node:stream'
import { describe, expect, it, vi } from 'vitest'
import { encodeControl } from './frame.ts'
import { guestPort, hostPort, type LinkHandlers } from './port.ts'

/** Handlers with a record of what they were told. */
function record<Incoming>() {
  const messages: Incoming[] = []
  const frames: unknown[] = []
  const closings: (Error | undefined)[] = []
  const handlers: LinkHandlers<Incoming> = {
    message: (message) => messages.push(message),
    frame: (frame) => frames.push(frame),
    closed: (error) => closings.push(error),
  }
  return { messages, frames, closings, handlers }
}

function pair() {
  const [hostStream, guestStream] = duplexPair()
  const atHost = record<Parameters<Parameters<typeof hostPort>[1]['message']>[0]>()
  const atGuest = record<Parameters<Parameters<typeof guestPort>[1]['message']>[0]>()
  const host = hostPort(hostStream, atHost.handlers)
  const guest = guestPort(guestStream, atGuest.handlers)
  return { host, guest, atHost, atGuest, hostStream, guestStream }
}

describe('a link', () => {
  it('carries messages and sound both ways', async () => {
    const { host, guest, atHost, atGuest } = pair()
    const sound = Int16Array.of(1, 2, -3)
    host.send({ type: 'ping', id: 1 })
    host.sendAudioIn(7, sound)
    host.laterPlayback(1, 2, 3)
    host.flush()
    guest.send({ type: 'pong', id: 1, rss: 5 })
    guest.sendAudioOut(4, sound)
    guest.laterHeard(9)
    guest.flush()
    await vi.waitFor(() => expect(atGuest.frames).toHaveLength(2))
    await vi.waitFor(() => expect(atHost.frames).toHaveLength(2))
    expect(atGuest.messages).toEqual([{ type: 'ping', id: 1 }])
    expect(atHost.messages).toEqual([{ type: 'pong', id: 1, rss: 5 }])
    expect(atGuest.frames).toEqual([
      { kind: 'audioIn', capturedAt: 7, samples: sound },
      { kind: 'playback', epoch: 1, played: 2, limit: 3 },
    ])
    expect(atHost.frames).toEqual([
      { kind: 'audioOut', epoch: 4, samples: sound },
      { kind: 'heard', frames: 9 },
    ])
  })

  it('carries the messages of a socket in order, among the words', async () => {
    const { host, guest, atHost, atGuest } = pair()
    host.sendSocket('eins')
    host.sendSocket(Uint8Array.of(1, 2))
    host.laterHeard(3)
    host.send({ type: 'socket-closed', code: 4001, reason: 'done' })
    guest.send({ type: 'ready', passThrough: true })
    guest.sendSocket('')
    guest.send({ type: 'answer', id: 1, error: { name: 'Error', message: 'no' } })
    guest.send({ type: 'peer', state: 'lost' })
    guest.send({ type: 'socket-close', code: 1000, reason: '' })
    await vi.waitFor(() => expect(atGuest.messages).toHaveLength(1))
    await vi.waitFor(() => expect(atHost.messages).toHaveLength(4))
    expect(atGuest.frames).toEqual([
      { kind: 'socket', data: 'eins' },
      { kind: 'socket', data: Uint8Array.of(1, 2) },
      { kind: 'heard', frames: 3 },
    ])
    expect(atGuest.messages).toEqual([{ type: 'socket-closed', code: 4001, reason: 'done' }])
    expect(atHost.frames).toEqual([{ kind: 'socket', data: '' }])
    expect(atHost.messages[0]).toEqual({ type: 'ready', passThrough: true })
  })

  it('delivers what was sent before it is closed, and tells the peer once, without an error', async () => {
    const { host, atGuest } = pair()
    host.send({ type: 'connected' })
    host.close()
    host.send({ type: 'disconnected' })
    await vi.waitFor(() => expect(atGuest.closings).toEqual([undefined]))
    expect(atGuest.messages).toEqual([{ type: 'connected' }])
  })

  it('breaks when the peer makes no sense', async () => {
    for (const bytes of [
      encodeControl({ type: 'nonsense' }),
      encodeControl(null),
      new Uint8Array(5).fill(255),
    ]) {
      const { atHost, guestStream } = pair()
      guestStream.write(bytes)
      await vi.waitFor(() =>
        expect(atHost.closings).toEqual([expect.objectContaining({ name: 'LinkProtocolError' })]),
      )
    }
  })

  it('tells nobody when it breaks itself, and may be closed twice', async () => {
    const { host, atHost, atGuest } = pair()
    host.destroy()
    host.close()
    await new Promise((resolve) => setImmediate(resolve))
    expect(atHost.closings).toEqual([])
    expect(atGuest.messages).toEqual([])
  })

  it('can be handed over without a word', async () => {
    const { host, guest, atHost, hostStream } = pair()
    host.detach()
    const next = record<Parameters<Parameters<typeof hostPort>[1]['message']>[0]>()
    hostPort(hostStream, next.handlers)
    guest.send({ type: 'ready' })
    await vi.waitFor(() => expect(next.messages).toEqual([{ type: 'ready' }]))
    expect(atHost).toMatchObject({ messages: [], closings: [] })
  })
})
