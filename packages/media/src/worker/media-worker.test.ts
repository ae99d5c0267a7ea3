import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MediaError } from '../errors.ts'
import type { HostedSessionEvents } from '../host/media-host.ts'
import type { GuestOver } from '../session/guest-channel.ts'
import type { MediaReport } from '../session/hosted-session.ts'
import { START } from '../testing/session-fixture.ts'
import { until } from '../testing/until.ts'
import { WebrtcTestClient } from '../testing/webrtc-client.ts'
import { MediaWorker } from './media-worker.ts'

const OPTIONS = { ice: {}, maxMemoryBytes: 1024 * 1024 * 1024 }
const STOPPED = { result: 'ok', cause: 'stopped', message: 'enough' } as const
const HANDSHAKE = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/** Events with a record. */
function record() {
  const told: string[] = []
  const overs: GuestOver[] = []
  const reports: MediaReport[] = []
  const events: HostedSessionEvents = {
    connected: () => told.push('connected'),
    disconnected: () => told.push('disconnected'),
    over: (reason) => overs.push(reason),
    report: (report) => reports.push(report),
  }
  return { told, overs, reports, events }
}

describe('a media worker', () => {
  let worker: MediaWorker
  let server: Server
  let client: Socket
  let answer = ''

  beforeEach(async () => {
    worker = await MediaWorker.start(OPTIONS, () => {})
    server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })

  afterEach(async () => {
    worker.stop()
    await worker.exited
    client?.destroy()
    server.close()
  })

  /** A socket whose other end is the client's. */
  async function accepted(): Promise<Socket> {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the server has no port')
    answer = ''
    client = connect(address.port, '127.0.0.1')
    client.on('error', () => {})
    client.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    const [socket] = (await once(server, 'connection')) as [Socket]
    return socket
  }

  async function open(id: string, events: HostedSessionEvents, headers: Record<string, string> = HANDSHAKE) {
    const request = { url: '/ws-client', headers, head: new Uint8Array() }
    await worker.openWebsocket(id, request, await accepted(), false, events)
  }

  it('holds a session until it is closed, and gives its last report', async () => {
    const { told, events } = record()
    await open('one', events)
    expect(worker.load).toBe(1)
    await until('the client is let in', () => answer.includes('101 Switching Protocols'))
    await until('the session is connected', () => told.includes('connected'))
    expect(await worker.close('one', STOPPED, 0)).toMatchObject({ counters: { messagesIn: 0 }, latency: [] })
    expect(worker.load).toBe(0)
    expect(await worker.close('one', STOPPED, 0)).toBeUndefined()
  })

  it('has told its callers when their sessions are closed, so that it can be stopped at once', async () => {
    const clients = Array.from({ length: 8 }, (_, id) => {
      const signal = async (offer: string) =>
        (await worker.openWebrtc(`peer ${id}`, offer, record().events)).sdp
      return new WebrtcTestClient({ signal })
    })
    try {
      await Promise.all(clients.map((client) => client.connect()))
      await Promise.all(clients.map((_, id) => worker.close(`peer ${id}`, STOPPED, 0)))
      worker.stop()
      await until('every caller knows that it is over', () =>
        clients.every(({ state }) => state !== 'connected'),
      )
    } finally {
      for (const client of clients) client.close()
    }
  })

  it('refuses what is no handshake and no offer, and holds nothing then', async () => {
    const { events } = record()
    await expect(open('one', events, {})).rejects.toMatchObject({ code: 'invalid_upgrade' })
    await expect(worker.openWebrtc('two', 'v=0', events)).rejects.toMatchObject({ code: 'invalid_offer' })
    expect(worker.load).toBe(0)
  })

  it('says so when it is asked about a session that it does not hold', async () => {
    const link = (await accepted()) as Socket
    await expect(worker.join('nobody', link, START)).rejects.toThrow(MediaError)
    await expect(worker.negotiate('nobody', 'v=0', false)).rejects.toThrow(MediaError)
    worker.addCandidates('nobody', [{ candidate: 'x', mid: '0' }])
  })

  it('ends every session when it is killed, and every call', async () => {
    const one = record()
    await open('one', one.events)
    const pid = worker.pid
    if (pid === undefined) throw new Error('the worker has no process')
    process.kill(pid, 'SIGKILL')
    const call = worker.negotiate('one', 'v=0', false)
    await expect(call).rejects.toMatchObject({ name: 'MediaError', code: 'media_unavailable' })
    await worker.exited
    expect(one.overs).toEqual([{ cause: 'media_failed', message: expect.stringContaining('SIGKILL') }])
    expect(worker.load).toBe(0)
    await expect(worker.openWebrtc('two', 'v=0', one.events)).rejects.toThrow('The media worker has ended.')
    await expect(open('three', one.events)).rejects.toThrow('The media worker has ended.')
    const [link] = duplexPair()
    await expect(worker.join('one', link, START)).rejects.toThrow(MediaError)
    expect(await worker.close('one', STOPPED, 0)).toBeUndefined()
    expect(one.overs).toHaveLength(1)
    expect(worker.load).toBe(0)
  })

  it('opens no wire when it is too late', async () => {
    const pid = worker.pid
    if (pid === undefined) throw new Error('the worker has no process')
    process.kill(pid, 'SIGSTOP')
    try {
      await expect(open('late', record().events)).rejects.toThrow('too long')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    expect(worker.load).toBe(0)
    await until('the client is let go', () => client.destroyed)
    expect(answer).toBe('')
  })

  it('survives callers that break off while they are handed over', async () => {
    const request = { url: '/ws-client', headers: HANDSHAKE, head: new Uint8Array() }
    for (let times = 0; times < 60; times += 1) {
      const opening = worker
        .openWebsocket(`${times}`, request, await accepted(), false, record().events)
        .catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, (times % 4) / 2))
      client.resetAndDestroy()
      await opening
      await worker.close(`${times}`, STOPPED, 0)
    }
    const { told, events } = record()
    await open('one', events)
    await until('the session is connected', () => told.includes('connected'))
  })

  it('survives what a caller can send: a message nested without end', async () => {
    const { told, overs, reports, events } = record()
    await open('one', events)
    await until('the session is connected', () => told.includes('connected'))
    client.write(textFrame('['.repeat(200_000)))
    client.write(textFrame('['.repeat(200_000) + ']'.repeat(200_000)))
    await until('both were counted', () => reports.at(-1)?.counters.badMessages === 2)
    expect(await worker.close('one', STOPPED, 0)).toMatchObject({ counters: { badMessages: 2 } })
    expect(overs).toEqual([])
  })
})

/** A text message of a client, with the mask that clients must use. */
function textFrame(text: string): Buffer {
  const header = Buffer.alloc(14)
  header[0] = 0x81
  header[1] = 0xff
  header.writeBigUInt64BE(BigInt(text.length), 2)
  return Buffer.concat([header, Buffer.from(text)])
}
