import { TRANSPORT_IDS, TRANSPORTS, type TransportId } from '@botcli/protocol'
import { describe, expect, it } from 'vitest'
import { DEFAULTS, type RunnerConfig } from '../config.ts'
import { type PageFactsInput, pageFacts, type Way } from './page-facts.ts'

const CARRIERS = TRANSPORT_IDS.filter((id) => TRANSPORTS[id].telephony)

function facts(config: Partial<RunnerConfig> = {}, more: Partial<PageFactsInput> = {}) {
  const proxy = config.proxy
  return pageFacts({
    config: { ...DEFAULTS, botPath: 'bot.ts', botFolder: '.', env: {}, ...config },
    transports: config.transport === undefined ? TRANSPORT_IDS : [config.transport],
    wsUrl: proxy === undefined ? 'ws://localhost:7860/ws' : `wss://${proxy}/ws`,
    origin: 'http://localhost:7860',
    originAllowed: true,
    ...more,
  })
}

function way(id: Way['id'], ...given: Parameters<typeof facts>): Way {
  const found = facts(...given).ways.find((candidate) => candidate.id === id)
  if (found === undefined) throw new Error(`there is no ${id}`)
  return found
}

const text = ({ steps }: Way, label: RegExp) => steps.find((step) => label.test(step.label))?.text

it('has one way for each transport that is on, but the page', () => {
  const { transports, ways } = facts()
  expect(transports).toEqual(TRANSPORT_IDS)
  expect(ways.map(({ id }) => id)).toEqual(TRANSPORT_IDS.filter((id) => id !== 'webrtc'))
  expect(facts({ transport: 'webrtc' }).ways).toEqual([])
})

it('has no ways for a request that does not say how it came here', () => {
  expect(facts({ dialin: true }, { origin: undefined }).ways).toEqual([])
})

describe('a carrier', () => {
  it.each(CARRIERS)('can be tried by a command: %s', (id) => {
    const { state, label, steps } = way(id)
    expect({ state, label }).toEqual({ state: 'ready', label: TRANSPORTS[id].label })
    expect(steps).toContainEqual({
      kind: 'command',
      label: 'Call it without a phone',
      text: `botcli call --as ${id}`,
    })
  })

  it.each([
    ['http://localhost:8000', 'botcli call http://localhost:8000 --as telephony_a'],
    ['http://[::1]:7860', "botcli call 'http://[::1]:7860' --as telephony_a"],
    ['https://bots.example.org', 'botcli call https://bots.example.org --as telephony_a'],
  ])('is called where the page came from: %s', (origin, command) => {
    expect(text(way('telephony_a', {}, { origin }), /without a phone/)).toBe(command)
  })

  it.each<[TransportId, Partial<RunnerConfig>, string | undefined]>([
    ['telephony_a', {}, 'start with `-t telephony_a -x your.public.name`.'],
    ['telephony_a', { proxy: 'a.example' }, 'start with `-t telephony_a`.'],
    ['telephony_a', { proxy: 'a.example', transport: 'telephony_a' }, undefined],
    ['telephony_d', {}, 'start with `-x your.public.name`.'],
    ['telephony_d', { proxy: 'a.example' }, undefined],
  ])('needs a public name for real calls: %s %j', (id, config, words) => {
    const telephony = { a: { accountId: 'i', authToken: 't' } }
    const { notes } = way(id, { ...config, telephony })
    expect(notes).toEqual(
      words === undefined ? [] : [`To answer calls from ${TRANSPORTS[id].label}, ${words}`],
    )
  })

  it('has its webhook only where it is the selected one', () => {
    const proxy = 'bots.example.org'
    const selected = way('telephony_b', { proxy, transport: 'telephony_b' })
    expect(text(selected, /Webhook/)).toBe('https://bots.example.org/')
    expect(text(selected, /stream/)).toBe('wss://bots.example.org/ws')
    expect(text(way('telephony_b', { proxy }), /Webhook/)).toBeUndefined()
  })

  it('says which credentials it lacks to hang up, and is quiet with all of them', () => {
    const env = { TELEPHONY_C_AUTH_ID: 'i' }
    expect(way('telephony_c').notes[1]).toContain('set `TELEPHONY_C_AUTH_ID` and `TELEPHONY_C_AUTH_TOKEN`.')
    expect(way('telephony_c', { env }).notes[1]).toContain('set `TELEPHONY_C_AUTH_TOKEN`.')
    const telephony = { c: { authId: 'i', authToken: 't' } }
    expect(way('telephony_c', { telephony }).notes.join()).not.toContain('hang up')
    expect(way('telephony_d').notes.join()).not.toContain('hang up')
  })
})

describe('a room', () => {
  it('says exactly what it lacks', () => {
    const { state, needs, steps } = way('room')
    expect({ state, steps }).toEqual({ state: 'needs', steps: [] })
    expect(needs).toEqual({ what: 'ROOM_API_KEY', how: expect.stringContaining('Set `ROOM_API_KEY`') })
  })

  it('can be opened and asked for, and nothing of its key is told', () => {
    const open = way('room', { room: { apiKey: 'very secret' } })
    expect(open.state).toBe('ready')
    expect(open.steps[0]).toEqual({
      kind: 'link',
      label: 'Open a fresh room',
      text: 'http://localhost:7860/daily',
    })
    expect(open.steps[1]?.text).toBe(
      `curl http://localhost:7860/start \\\n-H content-type:application/json \\\n-d '{"transport":"room"}'`,
    )
    expect(JSON.stringify(facts({ room: { apiKey: 'very secret' } }))).not.toContain('secret')
  })

  it('is asked for with an origin where only some are served', () => {
    const listed = way('room', { room: { apiKey: 'k' }, allowedOrigins: ['https://a.example'] })
    expect(listed.steps[1]?.text).toContain('-H origin:https://a.example')
  })
})

it('gives clients of their own the plain WebSocket, and says when they need a token', () => {
  const open = way('websocket')
  expect(open.steps.map((step) => step.text)).toEqual(['ws://localhost:7860/ws-client'])
  expect(open.notes).toEqual([])
  expect(way('websocket', { wsAuth: 'token' }).notes.join()).toContain('token')
})

describe.each([
  ['dialin', '/daily-dialin-webhook'],
  ['whatsapp', '/whatsapp'],
] as const)('the webhook of %s', (id, path) => {
  const room = { apiKey: 'k' }

  it('is there only when it was asked for', () => {
    expect(facts({ room }).ways.some((candidate) => candidate.id === id)).toBe(false)
  })

  it('has its public address', () => {
    const { state, steps } = way(id, { [id]: true, room, proxy: 'bots.example.org' })
    expect(state).toBe('ready')
    expect(steps[0]?.text).toBe(`https://bots.example.org${path}`)
    expect(way(id, { [id]: true, room }, { origin: 'https://other.example' }).steps[0]?.text).toBe(
      `https://other.example${path}`,
    )
  })

  it('says that nobody outside can reach it', () => {
    const unreached = way(id, { [id]: true, room })
    expect(unreached).toMatchObject({ state: 'needs', needs: { what: '--proxy' } })
    expect(unreached.steps[0]?.text).toBe(`https://your.public.name${path}`)
  })
})

it('says that dial-in lacks the key before anything else', () => {
  expect(way('dialin', { dialin: true })).toMatchObject({ state: 'needs', needs: { what: 'ROOM_API_KEY' } })
})
