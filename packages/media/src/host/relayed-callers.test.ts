import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { CARRIER_IDS } from '@botcli/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { GuestOver } from '../session/guest-channel.ts'
import { SCRIPT_A } from '../testing/carrier-scripts.ts'
import { BROWSER_OFFER } from '../testing/offers.ts'
import { RELAYED } from '../testing/relay-pair.ts'
import { ScriptedGuest } from '../testing/scripted-guest.ts'
import { until } from '../testing/until.ts'
import type { UpgradeRequest } from '../websocket/upgrade.ts'
import { MediaWorker } from '../worker/media-worker.ts'
import { LocalMediaHost } from './local-media-host.ts'
import type { CallDoor, HostedSessionEvents, MediaHost } from './media-host.ts'

const OPTIONS = { ice: {}, maxMemoryBytes: 1024 * 1024 * 1024 }
const SHUTDOWN = { result: 'ok', cause: 'shutdown', message: 'The runner is shutting down.' } as const
const DOOR: CallDoor = { served: CARRIER_IDS, evals: true, passThrough: true }
const EVAL_CONNECT =
  '{"label": "rtvi-ai",  "type": "client-message", "id": "1", "data": {"t": "eval-connect"}}'

let server: Server
let client: WebSocket
let guest: ScriptedGuest
let received: string[]
let told: string[]
let overs: GuestOver[]
let closed: { code: number; reason: string } | undefined

const events: HostedSessionEvents = {
  connected: () => told.push('connected'),
  disconnected: () => told.push('disconnected'),
  over: (reason) => overs.push(reason),
  report: () => {},
}

beforeEach(async () => {
  received = []
  told = []
  overs = []
  closed = undefined
  // Whoever hands a socket to another process must not have read it.
  server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(() => {
  client?.terminate()
  guest?.stream.destroy()
  server.close()
})

const opened = () => until('the client is let in', () => client.readyState === WebSocket.OPEN)
const port = () => (server.address() as AddressInfo).port

/** A client connects; the handshake is ours to answer. */
async function dial(): Promise<{ request: UpgradeRequest; socket: Socket }> {
  const arrival = once(server, 'connection')
  closed = undefined
  const caller = new WebSocket(`ws://127.0.0.1:${port()}/ws`)
  client = caller
  client.on('error', () => {})
  client.on('message', (data: Buffer) => received.push(data.toString()))
  client.on('close', (code, reason) => {
    // That of an earlier test may be told late.
    if (client === caller) closed = { code, reason: reason.toString() }
  })
  const [socket] = (await arrival) as [Socket]
  const bytes = await new Promise<Buffer>((resolve) => {
    socket.once('data', resolve)
    socket.resume()
  })
  socket.pause()
  const lines = bytes.toString('latin1').split('\r\n').slice(1)
  const headers = Object.fromEntries(
    lines.flatMap((line) => {
      const [name, value] = line.split(': ')
      return name && value ? [[name.toLowerCase(), value]] : []
    }),
  )
  return { request: { url: '/ws', headers, head: new Uint8Array() }, socket }
}

/** A guest at the other end of a real socket, which is handed to the host. */
async function join(host: MediaHost, transport: 'websocket' | 'telephony_a' | 'webrtc' | 'eval') {
  const arrival = once(server, 'connection')
  const far = connect(port(), '127.0.0.1')
  guest = new ScriptedGuest(far)
  const [link] = (await arrival) as [Socket]
  await host.join('one', link, { ...RELAYED, transport })
}

const hosts = [
  ['in this process', async () => ({ host: new LocalMediaHost(OPTIONS), stop: () => {} })],
  [
    'in a worker',
    async () => {
      const host = await MediaWorker.start(OPTIONS, () => {})
      return { host, stop: () => host.stop() }
    },
  ],
] as const

describe.each(hosts)('callers of a bot that speaks their wires itself, %s', (_, start) => {
  let host: MediaHost
  let stop: () => void
  beforeEach(async () => {
    ;({ host, stop } = await start())
  })
  afterEach(() => stop())

  it('by WebSocket, until the runner shuts down', async () => {
    const { request, socket } = await dial()
    await host.openWebsocket('one', request, socket, true, events)
    await opened()
    client.send('early')
    await join(host, 'websocket')
    await until('the bot has it', () => guest.socketMessages.length === 1)
    guest.port.sendSocket('answer')
    await until('the client has it', () => received.length === 1)
    expect([guest.socketMessages, received, told]).toEqual([['early'], ['answer'], ['connected']])
    const report = await host.close('one', SHUTDOWN, 1000)
    expect(report).toMatchObject({ counters: { messagesIn: 1, messagesOut: 1 }, latency: [] })
    // A worker may be gone right after this, and the client has been told all the same.
    stop()
    await until('the client is told', () => closed !== undefined)
    expect(closed).toEqual({ code: 1012, reason: SHUTDOWN.message })
    expect(guest.messages.at(-1)).toMatchObject({ type: 'cancel', cause: 'shutdown' })
    expect(host.load).toBe(0)
  })

  it('are told the end like those whose wire is ours, whatever happens to the host then', async () => {
    const { request, socket } = await dial()
    await host.openWebsocket('one', request, socket, false, events)
    await opened()
    await host.close('one', SHUTDOWN, 0)
    stop()
    await until('the client is told', () => closed !== undefined)
    expect(closed).toEqual({ code: 1012, reason: SHUTDOWN.message })
  })

  it('by phone, with everything that was read to recognise the carrier', async () => {
    const { request, socket } = await dial()
    const opening = host.openCarrier('one', request, socket, DOOR, events)
    await opened()
    const texts = [...SCRIPT_A.greeting, SCRIPT_A.start()].map((message) => JSON.stringify(message, null, 1))
    for (const text of texts) client.send(text)
    expect(await opening).toMatchObject({ transport: 'telephony_a', callId: SCRIPT_A.callId })
    client.send('no JSON')
    // What is no text cannot be passed on, and none of these ends a call.
    client.send(Buffer.of(0x22, 0xff, 0x22), { binary: false })
    client.send(Buffer.of(7))
    await join(host, 'telephony_a')
    await until('the bot has it', () => guest.socketMessages.length === texts.length + 2)
    expect(guest.socketMessages).toEqual([...texts, 'no JSON', Uint8Array.of(7)])
    client.close(1000)
    await until('it is over', () => overs.length === 1)
    expect(overs).toMatchObject([{ cause: 'client_left' }])
    const report = await host.close('one', SHUTDOWN, 0)
    expect(report).toMatchObject({ counters: { badMessages: 1 } })
  })

  it('as evals, whatever the bot is', async () => {
    const { request, socket } = await dial()
    const opening = host.openCarrier('one', request, socket, { ...DOOR, passThrough: false }, events)
    await opened()
    client.send(EVAL_CONNECT)
    client.send('and more')
    expect(await opening).toEqual({ transport: 'eval' })
    await join(host, 'eval')
    await until('the bot has it', () => guest.socketMessages.length === 2)
    expect(guest.socketMessages).toEqual([EVAL_CONNECT, 'and more'])
    await host.close('one', SHUTDOWN, 0)
  })

  it('as evals only where they may', async () => {
    const { request, socket } = await dial()
    const opening = host.openCarrier('one', request, socket, { ...DOOR, evals: false }, events)
    opening.catch(() => {})
    await opened()
    client.send(EVAL_CONNECT)
    await expect(opening).rejects.toMatchObject({ code: 'invalid_call' })
    await until('the caller is told', () => closed !== undefined)
    expect(closed).toMatchObject({ code: 1008, reason: expect.stringContaining('--evals') })
    expect(host.load).toBe(0)
  })

  it('not with a message that is too large, which everybody is told', async () => {
    const { request, socket } = await dial()
    await host.openWebsocket('one', request, socket, true, events)
    await opened()
    await join(host, 'websocket')
    client.send(Buffer.alloc(1024 * 1024 + 1))
    await until('the client is told', () => closed !== undefined)
    const reason = 'A message is too large: 1048576 bytes are allowed.'
    expect(closed).toEqual({ code: 1009, reason })
    await until('it is over', () => overs.length === 1)
    expect(overs).toMatchObject([{ cause: 'client_left', message: expect.stringContaining(reason) }])
    expect(await guest.told('socket-closed')).toMatchObject({ code: 1009, reason })
    await host.close('one', SHUTDOWN, 0)
  })

  it('not as evals in a disguise that only the bot would see through', async () => {
    const disguises: [Buffer, boolean][] = [
      [Buffer.from(EVAL_CONNECT), true],
      [Buffer.from(EVAL_CONNECT.replace('"1"', 'NaN')), false],
      [Buffer.of(0x7b, 0xff, 0xfe), false],
    ]
    for (const [data, binary] of disguises) {
      const { request, socket } = await dial()
      const opening = host.openCarrier('one', request, socket, { ...DOOR, evals: false }, events)
      opening.catch(() => {})
      await opened()
      client.send(data, { binary })
      client.send(EVAL_CONNECT)
      for (const message of [...SCRIPT_A.greeting, SCRIPT_A.start()]) client.send(JSON.stringify(message))
      await expect(opening).rejects.toMatchObject({ code: 'invalid_call' })
      await until('the caller is told', () => closed !== undefined)
      expect(closed?.code).toBe(1008)
      expect(host.load).toBe(0)
    }
  })

  it('not by WebRTC with an offer that is of no use to anybody', async () => {
    for (const sdp of ['', 'v=0']) {
      await expect(host.openPeerRelay('one', sdp, events)).rejects.toMatchObject({ code: 'invalid_offer' })
    }
    await until('nothing is left', () => host.load === 0)
  })

  it('by WebRTC', async () => {
    await host.openPeerRelay('one', BROWSER_OFFER, events)
    const answer = host.negotiate('one', BROWSER_OFFER, false)
    await join(host, 'webrtc')
    const { id } = await guest.told('offer')
    guest.say({ type: 'answer', id, sdp: 'v=0 too', pcId: 'peer' })
    expect(await answer).toEqual({ sdp: 'v=0 too', pcId: 'peer' })
    guest.say({ type: 'peer', state: 'connected' })
    await until('it is connected', () => told.length === 1)
    host.addCandidates('one', [{ candidate: 'c', mid: '1' }])
    expect(await guest.told('candidates')).toMatchObject({ candidates: [{ candidate: 'c', mid: '1' }] })
    const refused = host.negotiate('one', BROWSER_OFFER, true)
    refused.catch(() => {})
    await until(
      'the bot is asked again',
      () => guest.messages.filter(({ type }) => type === 'offer').length === 2,
    )
    guest.say({ type: 'answer', id: id + 1, error: { name: 'ValueError', message: 'not this' } })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_offer' })
    const late = host.negotiate('one', BROWSER_OFFER, false)
    late.catch(() => {})
    await host.close('one', SHUTDOWN, 1000)
    await expect(late).rejects.toMatchObject({ code: 'media_unavailable', message: SHUTDOWN.message })
    expect(host.load).toBe(0)
  })
})
