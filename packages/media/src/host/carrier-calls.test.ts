import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { CARRIER_IDS, type GuestPort, guestPort, type HostMessage, type LinkFrame } from '@botcli/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { GuestOver } from '../session/guest-channel.ts'
import { SCRIPT_A, SCRIPT_B, SCRIPT_C } from '../testing/carrier-scripts.ts'
import { START } from '../testing/session-fixture.ts'
import { until } from '../testing/until.ts'
import type { UpgradeRequest } from '../websocket/upgrade.ts'
import { MediaWorker } from '../worker/media-worker.ts'
import { LocalMediaHost } from './local-media-host.ts'
import type { HostedSessionEvents, MediaHost } from './media-host.ts'

const OPTIONS = { ice: {}, maxMemoryBytes: 1024 * 1024 * 1024 }
const DOOR = { served: CARRIER_IDS, evals: false, passThrough: false }
const STOPPED = { result: 'ok', cause: 'stopped', message: 'enough' } as const
const RETURNED = { result: 'ok', cause: 'bot_returned', message: 'The bot is done.' } as const

let server: Server
let arrived: Promise<{ readonly socket: Socket; readonly request: UpgradeRequest }>
let carrier: WebSocket
let received: string[]
let closed: { code: number; reason: string } | undefined

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(() => {
  carrier?.terminate()
  server.close()
})

/** A carrier connects; what it asked for is there to be handed to a host. */
function call(): void {
  received = []
  closed = undefined
  arrived = once(server, 'connection').then(async ([socket]: Socket[]) => {
    if (socket === undefined) throw new Error('nobody came')
    const [bytes] = (await once(socket, 'data')) as [Buffer]
    const [head = '', rest = ''] = bytes.toString('latin1').split('\r\n\r\n')
    const lines = head.split('\r\n').slice(1)
    const headers = Object.fromEntries(
      lines.map((line) => {
        const [name = '', value = ''] = line.split(': ')
        return [name.toLowerCase(), value]
      }),
    )
    return { socket, request: { url: '/ws', headers, head: Buffer.from(rest, 'latin1') } }
  })
  carrier = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`)
  carrier.on('error', () => {})
  carrier.on('message', (data: Buffer) => received.push(data.toString()))
  carrier.on('close', (code, reason) => {
    closed = { code, reason: reason.toString() }
  })
}

function record() {
  const overs: GuestOver[] = []
  const events: HostedSessionEvents = {
    connected: () => {},
    disconnected: () => {},
    over: (reason) => overs.push(reason),
    report: () => {},
  }
  return { overs, events }
}

async function open(host: MediaHost, events: HostedSessionEvents, ...messages: object[]) {
  call()
  const { socket, request } = await arrived
  const opening = host.openCarrier('one', request, socket, DOOR, events)
  opening.catch(() => {})
  await once(carrier, 'open')
  for (const message of messages) carrier.send(JSON.stringify(message))
  return { opening }
}

describe('a call in this process', () => {
  let guest: GuestPort
  let told: HostMessage[]
  let frames: Exclude<LinkFrame, { kind: 'control' }>[]

  async function joined(host: MediaHost): Promise<void> {
    const [link, far] = duplexPair()
    told = []
    frames = []
    guest = guestPort(far, {
      message: (message) => told.push(message),
      frame: (frame) => frames.push(frame),
      closed: () => {},
    })
    guest.resume()
    await host.join('one', link, { ...START, transport: 'telephony_c' })
    guest.send({ type: 'format', inputRate: 16_000, outputRate: 16_000 })
    await until('the bot may speak', () => frames.some(({ kind }) => kind === 'playback'))
  }

  it('goes both ways, keeps what came early, and is closed after the last word', async () => {
    const host = new LocalMediaHost(OPTIONS)
    const sound = SCRIPT_C.media(1, Buffer.alloc(160, 0x80).toString('base64'))
    const { opening } = await open(host, record().events, SCRIPT_C.start(), sound, SCRIPT_C.dtmf('7'))
    expect(await opening).toEqual({
      transport: 'telephony_c',
      callId: SCRIPT_C.callId,
      streamId: SCRIPT_C.streamId,
      from: '+15550100',
      to: '+15550199',
      custom: { from: '+15550100', to: '+15550199', plan: 'gold' },
      codec: 'pcmu',
      rate: 8000,
    })
    expect(host.load).toBe(1)
    await joined(host)
    await until('the bot hears', () => frames.some(({ kind }) => kind === 'audioIn'))
    await until('the bot sees the key', () => told.some(({ type }) => type === 'dtmf'))
    guest.sendAudioOut(0, new Int16Array(640).fill(5000))
    await until('the caller hears', () => received.length > 0)
    guest.send({ type: 'end', outcome: 'returned' })
    const closing = host.close('one', RETURNED, 1000)
    let done = false
    closing.then(() => {
      done = true
    })
    const mark = () => received.map((text) => SCRIPT_C.read(text)).find(({ kind }) => kind === 'mark')
    await until('the last word is marked', () => mark() !== undefined)
    expect([done, closed]).toEqual([false, undefined])
    const last = mark()
    carrier.send(JSON.stringify(SCRIPT_C.played(last?.kind === 'mark' ? last.name : '')))
    expect(await closing).toMatchObject({ counters: { audioInMs: 20, badMessages: 0 } })
    await until('the socket is closed', () => closed !== undefined)
    expect(closed).toEqual({ code: 1000, reason: 'The bot is done.' })
    expect(host.load).toBe(0)
  })

  it('is over when the carrier stops in the same breath as it starts', async () => {
    const host = new LocalMediaHost(OPTIONS)
    const { overs, events } = record()
    const { opening } = await open(host, events, ...SCRIPT_A.greeting, SCRIPT_A.start(), SCRIPT_A.stop())
    await opening
    await until('it is over', () => overs.length > 0)
    expect(overs).toEqual([{ cause: 'client_left', message: 'The caller hung up.' }])
    expect(await host.close('one', STOPPED, 0)).toBeDefined()
    expect(host.load).toBe(0)
  })

  it('is over when the carrier closes its half of the connection and nothing else', async () => {
    const host = new LocalMediaHost(OPTIONS)
    const { overs, events } = record()
    call()
    const { socket, request } = await arrived
    const half = connect({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      allowHalfOpen: true,
    })
    const [far] = (await once(server, 'connection')) as [Socket]
    half.resume()
    const opening = host.openCarrier('one', request, far, DOOR, events)
    half.write(textFrame(JSON.stringify(SCRIPT_A.start())))
    await opening
    half.end()
    await until('it is over', () => overs.length > 0)
    expect(overs[0]?.cause).toBe('client_lost')
    await host.close('one', STOPPED, 0)
    half.destroy()
    socket.destroy()
  })

  it('holds nothing of a call that it refused, or that was ended while it was unknown', async () => {
    const host = new LocalMediaHost(OPTIONS)
    const { events } = record()
    const refused = await open(host, events, SCRIPT_B.start({ encoding: 'OPUS', rate: 48_000 }))
    await expect(refused.opening).rejects.toMatchObject({
      code: 'invalid_call',
      message: expect.stringContaining('OPUS'),
    })
    await until('the carrier is told', () => closed !== undefined)
    expect([closed?.code, host.load]).toEqual([1008, 0])
    const unknown = await open(host, events, ...SCRIPT_A.greeting)
    expect(host.load).toBe(1)
    expect(await host.close('one', STOPPED, 0)).toBeUndefined()
    await expect(unknown.opening).rejects.toMatchObject({ code: 'invalid_call', message: 'enough' })
    await until('the carrier is told', () => closed !== undefined)
    expect([closed?.reason, host.load]).toEqual(['enough', 0])
  })

  it('is refused when its handshake is not one', async () => {
    const host = new LocalMediaHost(OPTIONS)
    const [socket, peer] = duplexPair()
    peer.resume()
    const request = { url: '/ws', headers: {}, head: new Uint8Array() }
    const opening = host.openCarrier('one', request, socket, DOOR, record().events)
    await expect(opening).rejects.toMatchObject({ code: 'invalid_upgrade' })
    expect(host.load).toBe(0)
  })
})

describe('a call in a worker', () => {
  let worker: MediaWorker
  beforeEach(async () => {
    worker = await MediaWorker.start(OPTIONS, () => {})
  })
  afterEach(async () => {
    worker.stop()
    await worker.exited
  })

  it('is told with all that its carrier knows, and ends with it', async () => {
    const { overs, events } = record()
    const { opening } = await open(worker, events, ...SCRIPT_B.greeting, SCRIPT_B.start())
    expect(await opening).toMatchObject({
      transport: 'telephony_b',
      callId: SCRIPT_B.callId,
      from: '+15550100',
    })
    carrier.send(JSON.stringify(SCRIPT_B.stop()))
    await until('it is over', () => overs.length > 0)
    expect(overs).toEqual([{ cause: 'client_left', message: 'The caller hung up.' }])
    expect(await worker.close('one', STOPPED, 0)).toMatchObject({ counters: { badMessages: 0 } })
    expect(worker.load).toBe(0)
  })

  it('is refused with the reason', async () => {
    const { opening } = await open(worker, record().events, SCRIPT_B.start({ encoding: 'G722', rate: 8000 }))
    await expect(opening).rejects.toMatchObject({
      code: 'invalid_call',
      message: expect.stringContaining('G722'),
    })
    expect(worker.load).toBe(0)
  })

  it('can be ended before its carrier is known', async () => {
    const { opening } = await open(worker, record().events, ...SCRIPT_A.greeting)
    expect(await worker.close('one', STOPPED, 0)).toBeUndefined()
    await expect(opening).rejects.toMatchObject({ code: 'invalid_call', message: 'enough' })
    await until('the carrier is told', () => closed !== undefined)
    expect(closed?.reason).toBe('enough')
  })
})

/** A text message of a client, with the mask that clients must use. */
function textFrame(text: string): Buffer {
  const header = Buffer.alloc(8)
  header[0] = 0x81
  header[1] = 0xfe
  header.writeUInt16BE(text.length, 2)
  return Buffer.concat([header, Buffer.from(text)])
}
