import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { OFFER_SDP, PassThroughHouse } from '../testing/pass-through-house.ts'
import { until } from '../testing/runner-fixture.ts'

const START_A = {
  event: 'start',
  sequenceNumber: '1',
  streamSid: 'MZ1',
  start: {
    accountSid: 'AC1',
    streamSid: 'MZ1',
    callSid: 'CA1',
    tracks: ['inbound'],
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
    customParameters: { from: '+15550100', plan: 'gold' },
  },
}

let house: PassThroughHouse
let clients: WebSocket[]
beforeEach(async () => {
  clients = []
  house = await PassThroughHouse.open()
})
afterEach(async () => {
  for (const client of clients) client.terminate()
  await house.close()
  expect([house.table.size, house.host.load]).toEqual([0, 0])
})

async function connect(path: string, headers: Record<string, string> = {}) {
  const client = new WebSocket(house.url(path), { headers })
  clients.push(client)
  client.on('error', () => {})
  const received: string[] = []
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    client.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  client.on('message', (data: Buffer) => received.push(data.toString()))
  await until(() => client.readyState === WebSocket.OPEN, 'a connection')
  return { client, received, closed }
}

const offer = { sdp: OFFER_SDP, type: 'offer' } as const
const started = () => house.log.lines.filter(({ msg }) => msg === 'bot started')

describe('a caller of a bot that speaks its wire itself', () => {
  it('comes by WebSocket', async () => {
    const headers = {
      Cookie: 'a=b',
      Authorization: 'Bearer x',
      'User-Agent': 'test',
      Origin: 'http://a.example',
    }
    const { id } = house.table.create('websocket')
    const address = `/ws-client?name=A%20b&token=secret&sessionId=${id}&%74oken=x&tokens=1`
    const { client, received, closed } = await connect(address, headers)
    client.send('hello')
    const guest = await house.guest()
    const { start } = await guest.told('start')
    expect(start).toMatchObject({ transport: 'websocket', passThrough: true, body: {} })
    expect(start.websocket).toEqual({
      path: '/ws-client',
      query: 'name=A%20b&tokens=1',
      remoteAddress: expect.stringContaining('127.0.0.1'),
      headers: { host: expect.any(String), 'user-agent': 'test', origin: 'http://a.example' },
    })
    await until(() => guest.socketMessages.length === 1, 'the message')
    guest.send('hello yourself')
    await until(() => received.length === 1, 'the answer')
    const [view] = house.table.views()
    expect(view).toMatchObject({ transport: 'websocket', state: 'active' })
    guest.say({ type: 'end', outcome: 'returned' })
    expect(await closed).toEqual({ code: 1000, reason: 'The bot is done.' })
  })

  it('comes by phone: the call is known, its numbers are in the body, and it is hung up', async () => {
    const { client, closed } = await connect('/ws')
    const texts = ['{"event": "connected"}', JSON.stringify(START_A, null, 2)]
    for (const text of texts) client.send(text)
    const guest = await house.guest()
    const { start } = await guest.told('start')
    expect(start).toMatchObject({
      transport: 'telephony_a',
      passThrough: true,
      call: { callId: 'CA1', streamId: 'MZ1', from: '+15550100' },
      body: { from: '+15550100', plan: 'gold' },
      websocket: { path: '/ws', headers: { host: expect.any(String) } },
    })
    await until(() => guest.socketMessages.length === 2, 'what was read before')
    expect(guest.socketMessages).toEqual(texts)
    const [view] = house.table.views()
    expect(view).toMatchObject({ transport: 'telephony_a' })
    guest.say({ type: 'socket-close', code: 1000, reason: '' })
    expect((await closed).code).toBe(1000)
    guest.say({ type: 'end', outcome: 'returned' })
    await until(() => house.hungUp.length === 1, 'the call to be hung up')
    expect(house.hungUp[0]).toContain('/Calls/CA1.json')
  })

  it('comes by WebRTC: the bot answers every offer, and hears of candidates', async () => {
    const answering = house.connector.offer(undefined, { ...offer, request_data: { a: 1 } })
    const guest = await house.guest()
    const { start } = await guest.told('start')
    expect(start).toEqual({
      sessionId: expect.any(String),
      transport: 'webrtc',
      passThrough: true,
      body: { a: 1 },
    })
    expect(await guest.told('offer')).toMatchObject({ id: 1, sdp: offer.sdp, restart: false })
    guest.say({ type: 'answer', id: 1, sdp: 'v=0 answer', pcId: 'peer-1' })
    const { sessionId, ...answer } = await answering
    expect(answer).toEqual({ sdp: 'v=0 answer', type: 'answer', pc_id: 'peer-1' })
    await until(() => started().length === 1, 'the log to tell')
    guest.say({ type: 'peer', state: 'connected' })
    await until(() => house.table.view(sessionId).state === 'active', 'the session to be active')

    house.connector.addCandidates(undefined, {
      pc_id: 'peer-1',
      candidates: [{ candidate: 'candidate:1', sdp_mid: '1' }],
    })
    expect(await guest.told('candidates')).toMatchObject({
      candidates: [{ candidate: 'candidate:1', mid: '1' }],
    })

    const again = house.connector.offer(sessionId, { ...offer, pc_id: 'peer-1', restart_pc: true })
    await until(() => guest.messages.some((one) => one.type === 'offer' && one.id === 2), 'the second offer')
    expect(guest.messages.at(-1)).toMatchObject({ type: 'offer', restart: true })
    guest.say({ type: 'answer', id: 2, sdp: 'v=0 again', pcId: 'peer-2' })
    expect(await again).toMatchObject({ sdp: 'v=0 again', pc_id: 'peer-2' })

    const refused = house.connector.offer(undefined, { ...offer, pc_id: 'peer-2' })
    refused.catch(() => {})
    await until(() => guest.messages.some((one) => one.type === 'offer' && one.id === 3), 'the third offer')
    guest.say({ type: 'answer', id: 3, error: { name: 'ValueError', message: 'not this one' } })
    await expect(refused).rejects.toMatchObject({ code: 'invalid_offer' })
    // A later offer that is no good changes nothing.
    expect(house.table.view(sessionId).state).toBe('active')

    guest.say({ type: 'peer', state: 'closed' })
    await until(() => house.table.view(sessionId).state === 'ended', 'the end')
    expect(house.table.view(sessionId).outcome).toMatchObject({ cause: 'client_left' })
  })

  it.each([undefined, 'announced'])(
    'leaves nothing when the bot refuses its first offer (%s)',
    async (how) => {
      const sessionId = how && house.table.create('webrtc').id
      const answering = house.connector.offer(sessionId, offer)
      answering.catch(() => {})
      const guest = await house.guest()
      const { id } = await guest.told('offer')
      guest.say({ type: 'answer', id, error: { name: 'ValueError', message: 'no audio' } })
      await expect(answering).rejects.toMatchObject({ code: 'invalid_offer', message: /no audio/ })
      await until(() => house.table.size === 0, 'the session to go')
      expect([guest.stopped, house.host.load]).toEqual([true, 0])
      expect(house.log.lines.filter(({ level }) => level === 'error')).toEqual([])
      // It was never called.
      expect(started()).toEqual([])
    },
  )

  it.each(['', 'x', 'v=0\r\n', 'v=0\r\nm=audio\r\n'])(
    'costs no bot with an offer that is none: %j',
    async (sdp) => {
      const session = house.table.create('webrtc')
      for (const sessionId of [undefined, session.id]) {
        const answering = house.connector.offer(sessionId, { ...offer, sdp })
        await expect(answering).rejects.toMatchObject({ code: 'invalid_offer' })
      }
      expect([house.guests.length, house.host.load, house.table.size]).toEqual([0, 0, 1])
      // Which may try again.
      expect(session.state).toBe('waiting')
    },
  )

  it('changes nothing with a later offer that is none', async () => {
    const answering = house.connector.offer(undefined, offer)
    const guest = await house.guest()
    await guest.told('offer')
    guest.say({ type: 'answer', id: 1, sdp: 'v=0 answer', pcId: 'peer-1' })
    const { sessionId } = await answering
    guest.say({ type: 'peer', state: 'connected' })
    await until(() => house.table.view(sessionId).state === 'active', 'the session to be active')
    for (const restart_pc of [false, true]) {
      const again = house.connector.offer(undefined, { ...offer, sdp: 'v=0', pc_id: 'peer-1', restart_pc })
      await expect(again).rejects.toMatchObject({ code: 'invalid_offer' })
    }
    expect(guest.messages.filter(({ type }) => type === 'offer')).toHaveLength(1)
    expect(house.table.view(sessionId).state).toBe('active')
    guest.say({ type: 'peer', state: 'lost' })
    await until(() => house.table.view(sessionId).state === 'ended', 'the end')
    expect(house.table.view(sessionId).outcome).toMatchObject({ cause: 'client_lost' })
  })

  it.each(['/ws', 'announced'])('is no eval in disguise, at %s', async (where) => {
    const text = '{"label":"rtvi-ai","type":"client-message","id":"1","data":{"t":"eval-connect"}}'
    const disguises = [
      [Buffer.from(text), true],
      [Buffer.from(text.replace('"id":"1"', '"id":NaN')), false],
      [Buffer.of(0x7b, 0xff, 0xfe), false],
      [Buffer.from('{"event":"hello"}'), false],
    ] as const
    for (const [data, binary] of disguises) {
      const path = where === '/ws' ? where : `/sessions/${house.table.create('telephony_a').id}/ws`
      const { client, closed } = await connect(path, { 'X-Forwarded-For': '192.0.2.1' })
      client.send(data, { binary })
      client.send(text)
      client.send('{"event": "connected"}')
      client.send(JSON.stringify(START_A))
      expect((await closed).code).toBe(1008)
    }
    expect(house.guests).toEqual([])
  })

  it('tells the bot how it closed its socket', async () => {
    const { client } = await connect('/ws-client')
    const guest = await house.guest()
    await guest.told('start')
    client.close(4001, 'my reason')
    expect(await guest.told('socket-closed')).toMatchObject({ code: 4001, reason: 'my reason' })
    expect(await guest.told('cancel')).toMatchObject({ cause: 'client_left' })
  })

  it('hears why when the bot fails instead of answering', async () => {
    const answering = house.connector.offer(undefined, offer)
    answering.catch(() => {})
    const guest = await house.guest()
    await guest.told('offer')
    guest.say({ type: 'end', outcome: 'failed', error: { name: 'TypeError', message: 'oh no' } })
    await expect(answering).rejects.toMatchObject({ code: 'media_unavailable', message: /TypeError: oh no/ })
    await until(() => house.table.size === 0, 'the session to go')
  })

  it('is asked to try again when the bot was saved meanwhile and is another one now', async () => {
    house.saveUnseen(false)
    const session = house.table.create('webrtc')
    await expect(house.connector.offer(session.id, offer)).rejects.toMatchObject({
      code: 'bot_not_loaded',
      status: 503,
      message: expect.stringContaining('Try again'),
    })
    expect(session.state).toBe('waiting')
    expect([house.guests.map(({ stopped }) => stopped), house.host.load]).toEqual([[true], 0])
    house.saveUnseen(true)
    const { client, closed } = await connect('/ws')
    client.send(JSON.stringify(START_A))
    expect(await closed).toMatchObject({ code: 1011, reason: expect.stringContaining('Try again') })
    await until(() => house.hungUp.length === 1, 'the call to be hung up')
    expect(house.guests.map(({ stopped }) => stopped)).toEqual([true, true])
  })

  it('is no matter for a bot that leaves the wire to us, but for evals', async () => {
    await house.save(false)
    const { client, received } = await connect('/ws')
    const text = '{"label":"rtvi-ai","type":"client-message","id":"1","data":{"t":"eval-connect"}}'
    client.send(text)
    const guest = await house.guest()
    expect((await guest.told('start')).start).toMatchObject({
      transport: 'eval',
      passThrough: true,
      body: {},
    })
    await until(() => guest.socketMessages.length === 1, 'the message')
    expect(guest.socketMessages).toEqual([text])
    guest.send('{}')
    await until(() => received.length === 1, 'the answer')
    await connect('/ws-client')
    const plain = await until(() => house.guests[1], 'the second guest')
    const { start } = await plain.told('start')
    expect(start.passThrough).toBeUndefined()
    expect(start.websocket).toEqual({ path: '/ws-client', remoteAddress: expect.any(String) })
  })
})
