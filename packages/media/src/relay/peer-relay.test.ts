import { duplexPair } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import type { GuestOver } from '../session/guest-channel.ts'
import { BROWSER_OFFER } from '../testing/offers.ts'
import { RELAYED } from '../testing/relay-pair.ts'
import { ScriptedGuest } from '../testing/scripted-guest.ts'
import { until } from '../testing/until.ts'
import { PeerRelay, type PeerRelayLimits } from './peer-relay.ts'
import { RelaySession } from './relay-session.ts'

const STOPPED = { result: 'ok', cause: 'stopped', message: 'That is it.' } as const

let session: RelaySession<PeerRelay>
let guest: ScriptedGuest
let told: (string | GuestOver)[]

function open({ joined = true, ...limits }: Partial<PeerRelayLimits> & { joined?: boolean } = {}): PeerRelay {
  told = []
  session = new RelaySession({
    createRelay: (events) => new PeerRelay(events, limits),
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

const OTHER_OFFER = BROWSER_OFFER.replace('4611731400430051336', '2')
const offers = () => guest.messages.filter((message) => message.type === 'offer')

describe('a peer that is passed through', () => {
  it('is answered by the bot, also when the offer comes before the bot', async () => {
    const relay = open({ joined: false })
    const answer = relay.answer(BROWSER_OFFER, false)
    await until('the bot is asked', () => offers().length === 1)
    // At once after the start, since a bot makes its connection from it.
    expect(guest.messages.map(({ type }) => type)).toEqual(['start', 'offer'])
    expect(offers()).toEqual([{ type: 'offer', id: 1, sdp: BROWSER_OFFER, restart: false }])
    guest.say({ type: 'answer', id: 1, sdp: 'v=0 answer', pcId: 'peer-1' })
    expect(await answer).toEqual({ sdp: 'v=0 answer', pcId: 'peer-1' })
    expect(told).toEqual([])
  })

  it('can be negotiated again, and is told candidates', async () => {
    const relay = open()
    const both = Promise.all([relay.answer(BROWSER_OFFER, false), relay.answer(OTHER_OFFER, true)])
    relay.addCandidates([{ candidate: 'candidate:1', mid: '0' }])
    expect(await guest.told('candidates')).toEqual({
      type: 'candidates',
      candidates: [{ candidate: 'candidate:1', mid: '0' }],
    })
    expect(offers()).toMatchObject([
      { id: 1, sdp: BROWSER_OFFER, restart: false },
      { id: 2, sdp: OTHER_OFFER, restart: true },
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
    const refused = relay.answer(BROWSER_OFFER, false)
    guest.say({ type: 'answer', id: 1, error: { name: 'ValueError', message: 'no audio in it' } })
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_offer',
      message: 'The bot refused the offer: no audio in it',
    })
    await expect(relay.answer('x'.repeat(1024 * 1024), false)).rejects.toMatchObject({
      code: 'invalid_offer',
    })
    const half = relay.answer(BROWSER_OFFER, false)
    guest.say({ type: 'answer', id: 2, sdp: 'v=0' })
    await expect(half).rejects.toMatchObject({ code: 'invalid_offer' })
    expect(told).toEqual([])
  })

  it.each([
    ['nothing', ''],
    ['no SDP', 'x'],
    ['no media', 'v=0\r\n'],
    ['a section that cannot be read', 'v=0\r\nm=audio\r\n'],
    ['messages alone', BROWSER_OFFER.replace(/m=(?:audio|video)[\s\S]*(?=m=application)/, '')],
    ['no way to reach its sender', BROWSER_OFFER.replace(/a=ice-ufrag.*\r\n/g, '')],
  ])('does not reach the bot with %s', async (_, sdp) => {
    const relay = open()
    for (const restart of [false, true]) {
      await expect(relay.answer(sdp, restart)).rejects.toMatchObject({ code: 'invalid_offer' })
    }
    relay.answer(BROWSER_OFFER, false).catch(() => {})
    await until('the bot is asked', () => offers().length > 0)
    expect(offers()).toMatchObject([{ id: 1, sdp: BROWSER_OFFER }])
    expect(told).toEqual([])
  })

  it('is lost when it begins anew and does not come back in time', async () => {
    const relay = open({ reconnectMs: 20 })
    const again = async (id: number, restart: boolean) => {
      const answer = relay.answer(BROWSER_OFFER, restart)
      guest.say({ type: 'answer', id, sdp: 'v=0', pcId: `${id}` })
      await answer
    }
    await again(1, false)
    guest.say({ type: 'peer', state: 'connected' })
    await again(2, true)
    guest.say({ type: 'peer', state: 'disconnected' })
    guest.say({ type: 'peer', state: 'connected' })
    await again(3, false)
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(told).toEqual(['connected', 'disconnected', 'connected'])
    await again(4, true)
    await until('it is over', () => told.length === 4)
    expect(told.at(-1)).toEqual({
      cause: 'client_lost',
      message: 'The client began anew, and did not connect within 0.02 seconds.',
    })
  })

  it('is lost when its connection broke', async () => {
    open()
    for (const state of ['connected', 'disconnected', 'lost'] as const) guest.say({ type: 'peer', state })
    await until('it is over', () => told.length === 3)
    expect(told.at(-1)).toEqual({ cause: 'client_lost', message: 'The connection to the client broke.' })
  })

  it('does not wait for ever for an answer, nor take one that comes too late or was never asked for', async () => {
    const relay = open({ answerMs: 20 })
    await expect(relay.answer(BROWSER_OFFER, false)).rejects.toMatchObject({
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
    const waiting = Array.from({ length: 10 }, () => relay.answer(BROWSER_OFFER, false))
    await expect(relay.answer(BROWSER_OFFER, false)).rejects.toMatchObject({ code: 'media_unavailable' })
    await session.close(STOPPED, 0)
    for (const one of await Promise.allSettled(waiting)) {
      expect(one).toMatchObject({ status: 'rejected', reason: { message: 'That is it.' } })
    }
    await expect(relay.answer(BROWSER_OFFER, false)).rejects.toThrow('The session is over.')
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
