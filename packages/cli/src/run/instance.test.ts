import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PhoneCall } from '@botcli/media/phone'
import type { CarrierId, SessionView } from '@botcli/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { WebrtcTestClient } from '../../../media/src/testing/webrtc-client.ts'
import { botFolder, ECHO, until } from '../../../runner/src/testing/runner-fixture.ts'
import { toneShare, WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'
import { StartedInstance } from '../testing/started-instance.ts'

const CARRIERS: readonly CarrierId[] = ['telephony_a', 'telephony_b', 'telephony_c', 'telephony_d']

/** Tells what it knows in its log, and waits for its end. */
const TELLING_BOT = `
export async function bot(args) {
  const { transport, sessionId, body, websocket } = args
  console.log('told ' + JSON.stringify({ transport, sessionId, body, websocket, env: process.env }))
  await new Promise((resolve) => setTimeout(resolve, 60_000))
}
`

describe('an instance with the echo bot', () => {
  let instance: StartedInstance
  beforeAll(async () => {
    // As the CMD of a container is, and with whatever else makes no sense in the cloud.
    const options = ['--host', '0.0.0.0', '--port', '7860', '--dialin', '-d', '--isolation', 'inline']
    const others = ['--esp32', '-t', 'telephony_a', '--max-sessions', '1', '--evals', '--ws-auth', 'token']
    instance = await StartedInstance.start(ECHO, { options: [...options, ...others] })
    await instance.ready()
  })
  afterAll(() => instance.close())

  it('says in its journal alone what it leaves out, and that it is ready', async () => {
    const [first, second] = await until(() => {
      const lines = instance.lines()
      return lines.length > 1 && lines
    }, 'the first lines')
    expect(first?.msg).toMatch(/left out: (?!.*--host).*--isolation/)
    expect(second).toMatchObject({ level: 'info', msg: 'ready', bot: 'bot.ts' })
    expect(instance.stdout + instance.stderr).toBe('')
  })

  it('listens on its socket, which is its owner’s alone, and on no port', async () => {
    expect(statSync(instance.settings.socket).mode & 0o777).toBe(0o600)
    expect(await (await instance.ask('GET', '/status')).body).toMatchObject({ status: 'ready' })
    await expect(fetch('http://127.0.0.1:7860/status')).rejects.toThrow()
  })

  it('serves no page', async () => {
    const { status, body } = await instance.ask('GET', '/client/')
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'not_found' })
  })

  it('tells whoever wants a room where the key belongs: not into files of a machine that is not theirs', async () => {
    const { status, body } = await instance.ask('POST', '/start', { transport: 'room', createRoom: true })
    expect([status, body.error]).toEqual([
      501,
      "Rooms need the room provider's key. Set ROOM_API_KEY in the secret set of the agent.",
    ])
  })

  it('gives a session the id that the cloud has for it, once', async () => {
    const id = await instance.start({ transport: 'webrtc' })
    const again = await instance.ask('POST', '/start', {}, { 'x-botcli-session-id': id })
    expect([again.status, again.body.code]).toEqual([409, 'session_busy'])
    for (const wrong of ['1', `${id}, ${id}`, `${id}0`]) {
      const { status, body } = await instance.ask('POST', '/start', {}, { 'x-botcli-session-id': wrong })
      expect([status, body.code]).toEqual([422, 'invalid_request'])
    }
    const info = await instance.ask('GET', '/instance')
    const { instanceId } = instance.settings
    expect(info.body).toMatchObject({ instanceId, pid: instance.pid, sessions: [{ sessionId: id }] })
    const ended = await instance.ask('DELETE', `/sessions/${id}`)
    expect(ended.body).toMatchObject({ state: 'ended', outcome: { cause: 'stopped' } })
    expect((await instance.ask('GET', '/instance')).body.sessions).toEqual([])
    const late = await instance.ask('POST', '/start', {}, { 'x-botcli-session-id': id })
    expect(late.status).toBe(409)
    expect(instance.views(id).map(({ state }) => state)).toEqual(['waiting', 'ended'])
  })

  it('makes an id of its own where the cloud gives none', async () => {
    const { body } = await instance.ask('POST', '/start', { transport: 'telephony_b' })
    expect(body).toEqual({ wsUrl: expect.stringContaining(`/sessions/${body.sessionId}/ws`), ...body })
    await instance.ask('DELETE', `/sessions/${body.sessionId}`)
  })

  it('spells addresses as the cloud says that it is reached', async () => {
    const headers = {
      'x-forwarded-host': 'cloud.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-prefix': '/v1/public/agent',
    }
    const { body } = await instance.ask('POST', '/start', { transport: 'telephony_a' }, headers)
    const { sessionId } = body
    expect(body.wsUrl).toBe(`wss://cloud.example/v1/public/agent/sessions/${sessionId}/ws`)
    await instance.ask('DELETE', `/sessions/${sessionId}`)
  })

  it('takes a client by WebSocket, and writes down its life', async () => {
    const id = await instance.start({ transport: 'websocket' })
    const client = await WebsocketClient.connect(instance.websocketUrl(`/ws-client?sessionId=${id}`))
    client.sendMessage('client-ready', { version: '2.2.0' })
    await client.message('bot-ready')
    while (client.samples.length < 24_000) await client.sendTone(440, 300)
    expect(toneShare(client.samples, 440, 24_000)).toBeGreaterThan(0.6)
    client.close()
    const over = await instance.over(id)
    expect(over).toMatchObject({ transport: 'websocket', outcome: { result: 'ok', cause: 'client_left' } })
    expect(over.counters?.audioInMs).toBeGreaterThan(0)
    expect(instance.views(id).map(({ state }) => state)).toEqual(['waiting', 'active', 'ended'])
    expect(instance.views(id)[1]?.connectedAt).toBe(over.connectedAt)
  })

  it.each(CARRIERS)('takes a call of %s', async (carrier) => {
    const id = await instance.start({ transport: carrier })
    const call = new PhoneCall({ url: instance.websocketUrl(`/sessions/${id}/ws`), carrier, limitMs: 60_000 })
    await until(async () => {
      const { body } = await instance.ask('GET', `/sessions/${id}`)
      return Number((body as unknown as SessionView).counters?.audioOutMs) > 0
    }, 'the call to be heard')
    await call.close()
    expect(await instance.over(id)).toMatchObject({ transport: carrier, outcome: { result: 'ok' } })
    expect(instance.views(id).map(({ state }) => state)).toEqual(['waiting', 'active', 'ended'])
  })

  it('takes a caller by WebRTC', async () => {
    const id = await instance.start({ transport: 'webrtc' })
    const client = new WebrtcTestClient({
      signal: async (sdp) => {
        const offer = { sdp, type: 'offer' }
        const { status, body } = await instance.ask('POST', `/sessions/${id}/api/offer`, offer)
        expect(status).toBe(200)
        return String(body.sdp)
      },
    })
    await client.connect()
    while (client.heard.length < 0.8 * 16_000) await client.sendTone(440, 500)
    client.close()
    expect(await instance.over(id)).toMatchObject({ transport: 'webrtc', outcome: { cause: 'client_left' } })
  })

  it('never lets an eval in, whatever its command line says', async () => {
    const socket = new WebSocket(instance.websocketUrl('/ws'), { headers: { Host: 'localhost' } })
    const data = { t: 'eval-connect', d: {} }
    const message = { label: 'rtvi-ai', type: 'client-message', id: '1', data }
    socket.on('open', () => socket.send(JSON.stringify(message)))
    const code = await new Promise((resolve) => socket.on('close', resolve))
    expect(code).toBe(1008)
  })
})

describe('what a bot is told in an instance', () => {
  let folder: string
  let instance: StartedInstance
  beforeAll(async () => {
    folder = await botFolder(TELLING_BOT)
    await writeFile(join(folder, '.env'), 'OF_THE_FILE=yes\n')
    const env = { ENV: 'local', OF_THE_CLOUD: 'yes', BOT_ALLOWED_ORIGINS: 'https://app.example' }
    instance = await StartedInstance.start(folder, { env })
    await instance.ready()
  })
  afterAll(async () => {
    await instance.close()
    await rm(folder, { recursive: true, force: true })
  })

  interface Told {
    readonly websocket: { readonly path: string; readonly remoteAddress: string }
    readonly env: Readonly<Record<string, string>>
  }

  async function told(headers: Record<string, string>): Promise<Told> {
    const id = await instance.start({ transport: 'websocket', body: { plan: 'gold' } })
    const client = await WebsocketClient.connect(instance.websocketUrl(`/ws-client?sessionId=${id}`), headers)
    const line = await until(
      () => instance.lines().find(({ msg, sessionId }) => sessionId === id && msg.startsWith('told ')),
      'the bot to tell',
    )
    client.close()
    await instance.over(id)
    return JSON.parse(line.msg.slice('told '.length)) as Told
  }

  it('is the real environment, and not that it is somebody’s own machine', async () => {
    const { env } = await told({})
    expect(env.OF_THE_CLOUD).toBe('yes')
    for (const name of ['ENV', 'OF_THE_FILE', 'BOTCLI_INSTANCE']) expect(env).not.toHaveProperty(name)
  })

  it.each([
    ['203.0.113.7, 10.0.0.1', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['somebody', ''],
  ])('is its caller’s address, which the cloud knows (%s)', async (forwarded, address) => {
    expect((await told({ 'X-Forwarded-For': forwarded })).websocket.remoteAddress).toBe(address)
  })

  it('is nothing of a page that may not speak to it, while the cloud itself shows no origin', async () => {
    const id = await instance.start({ transport: 'websocket' })
    const url = instance.websocketUrl(`/ws-client?sessionId=${id}`)
    const refusal = await WebsocketClient.refusal(url, { Origin: 'https://other.example' })
    expect(refusal.status).toBe(403)
    const start = await instance.ask('POST', '/start', {}, { Origin: 'https://other.example' })
    expect(start.status).toBe(403)
    const client = await WebsocketClient.connect(url, { Origin: 'https://app.example' })
    client.close()
    await instance.over(id)
  })

  it('comes before the end of its session in the journal', async () => {
    const id = randomUUID()
    await instance.start({ transport: 'websocket' }, id)
    const client = await WebsocketClient.connect(instance.websocketUrl(`/ws-client?sessionId=${id}`))
    await until(
      () => instance.lines().some(({ msg, sessionId }) => sessionId === id && msg.startsWith('told ')),
      'words',
    )
    client.close()
    await instance.over(id)
    const own = instance.records().filter((record) => JSON.stringify(record).includes(id))
    expect(own.at(-1)).toMatchObject({ type: 'session', session: { state: 'ended' } })
  })
})
