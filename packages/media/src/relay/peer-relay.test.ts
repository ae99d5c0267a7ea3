import { duplexPair } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import type { GuestOver } from '../session/guest-channel.ts'
import { RELAYED } from '../testing/relay-pair.ts'
import { ScriptedGuest } from '../testing/scripted-guest.ts'
import { until } from '../testing/until.ts'
import { PeerRelay } from './peer-relay.ts'
import { RelaySession } from './relay-session.ts'

const STOPPED = { result: 'ok', cause: 'stopped', message: 'That is it.' } as const

let session: RelaySession<PeerRelay>
let guest: ScriptedGuest
let told: (string | GuestOver)[]

function open({ joined = true, limitMs = 60_000 } = {}): PeerRelay {
  told = []
  session = new RelaySession({
    createRelay: (events) => new PeerRelay(events, limitMs),
    events: {
      connected: () => told.push('connected'),
      disconnected: () => told.push('disconnected'),
      over: (reason) => told.push(reason),
    },
    clock: () => performance.now(),
    maxMemoryBytes: 1024 ** 3,
  })
  const [link, far] = duplexPair()
  guest = new ScriptedGuest(far)
  const join = () => session.join(link, { ...RELAYED, transport: 'webrtc' })
  if (joined) join()
  else setImmediate(join)
  return session.relay
}

afterEach(async () => {
  await session.close(STOPPED, 0)
  guest.stream.destroy()
})

const offers = () => guest.messages.filter((message) => message.type === 'offer')

describe('a peer that is passed through', () => {
  it('is answered by the bot, also when the offer comes before the bot', async () => {
    const relay = open({ joined: false })
    const answer = relay.answer('v=0 offer', false)
    await until('the bot is asked', () => offers().length === 1)
    // At once after the start, since a bot makes its connection from it.
    expect(guest.messages.map(({ type }) => type)).toEqual(['start', 'offer'])
    expect(offers()).toEqual([{ type: 'offer', id: 1, sdp: 'v=0 offer', restart: false }])
    guest.say({ type: 'answer', id: 1, sdp: 'v=0 answer', pcId: 'peer-1' })
    expect(await answer).toEqual({ sdp: 'v=0 answer', pcId: 'peer-1' })
    expect(told).toEqual([])
  })

  it('can be negotiated again, and is told candidates', async () => {
    const relay = open()
    const both = Promise.all([relay.answer('one', false), relay.answer('two', true)])
    relay.addCandidates([{ candidate: 'candidate:1', mid: '0' }])
    expect(await guest.told('candidates')).toEqual({
      type: 'candidates',
      candidates: [{ candidate: 'candidate:1', mid: '0' }],
    })
    expect(offers()).toMatchObject([
      { id: 1, sdp: 'one', restart: false },
      { id: 2, sdp: 'two', restart: true },
    ])
    guest.say({ type: 'answer', id: 2, sdp: 'second', pcId: 'b' })
    guest.say({ type: 'answer', id: 1, sdp: 'first', pcId: 'a' })
    expect(await both).toEqual([
      { sdp: 'first', pcId: 'a' },
      { sdp: 'second', pcId: 'b' },
    ])
  })

  it('is refused when the bot refuses, when it is too large, and when half of the answer is missing', async () => {
    const relay = open()
    const refused = relay.answer('bad', false)
    guest.say({ type: 'answer', id: 1, error: { name: 'ValueError', message: 'no audio in it' } })
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_offer',
      message: 'The bot refused the offer: no audio in it',
    })
    await expect(relay.answer('x'.repeat(1024 * 1024), false)).rejects.toMatchObject({
      code: 'invalid_offer',
    })
    const half = relay.answer('fine', false)
    guest.say({ type: 'answer', id: 3, sdp: 'v=0' })
    await expect(half).rejects.toMatchObject({ code: 'invalid_offer' })
    expect(told).toEqual([])
  })

  it('does not wait for ever for an answer, nor take one that comes too late or was never asked for', async () => {
    const relay = open({ limitMs: 20 })
    await expect(relay.answer('slow', false)).rejects.toMatchObject({
      code: 'media_unavailable',
      message: expect.stringContaining('within 0.02 seconds'),
    })
    guest.say({ type: 'answer', id: 1, sdp: 'late', pcId: 'a' })
    guest.say({ type: 'answer', id: 99, sdp: 'never', pcId: 'a' })
    guest.say({ type: 'peer', state: 'connected' })
    await until('it was read', () => told.length > 0)
    expect(told).toEqual(['connected'])
  })

  it('bounds what waits', async () => {
    const relay = open()
    const waiting = Array.from({ length: 10 }, () => relay.answer('v=0', false))
    await expect(relay.answer('v=0', false)).rejects.toMatchObject({ code: 'media_unavailable' })
    await session.close(STOPPED, 0)
    for (const one of await Promise.allSettled(waiting)) {
      expect(one).toMatchObject({ status: 'rejected', reason: { message: 'That is it.' } })
    }
    await expect(relay.answer('v=0', false)).rejects.toThrow('The session is over.')
  })

  it('tells its states, each once, and is over when it is closed', async () => {
    open()
    for (const state of ['connected', 'connected', 'disconnected', 'connected', 'closed'] as const) {
      guest.say({ type: 'peer', state })
    }
    await until('it is over', () => told.length === 4)
    expect(told).toEqual([
      'connected',
      'disconnected',
      'connected',
      { cause: 'client_left', message: 'The client closed its connection.' },
    ])
  })

  it.each([
    ['a message of a socket', () => guest.port.sendSocket('x'), 'socket frame'],
    ['sound', () => guest.port.sendAudioOut(0, new Int16Array(1)), 'audioOut frame'],
    [
      'the end of a socket',
      () => guest.say({ type: 'socket-close', code: 1000, reason: '' }),
      'socket-close',
    ],
  ])('is no place for %s', async (_, deed, words) => {
    open()
    deed()
    await until('it is over', () => told.length > 0)
    expect(told).toEqual([{ cause: 'bot_failed', message: expect.stringContaining(words) }])
  })
})
