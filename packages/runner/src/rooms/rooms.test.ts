import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'
import { LogCapture } from '../testing/log-capture.ts'
import { type Mood, RoomProviderDouble } from '../testing/room-provider-double.ts'
import { RestRoomProvider } from './rest-room-provider.ts'
import { Rooms } from './rooms.ts'

const KEY = 'room-key-1234567890'
const NOW = Date.UTC(2030, 0, 1)
const HOUR = 3600
const now = NOW / 1000

let double: RoomProviderDouble
beforeEach(async () => {
  double = new RoomProviderDouble(KEY)
  await double.listen()
})
afterEach(() => double.close())

function roomsWith(
  config: { apiKey?: string; sampleRoomUrl?: string } = { apiKey: KEY },
  log = silentLogger,
) {
  return new Rooms({ config: { apiUrl: double.apiUrl, ...config }, logger: log, clock: () => NOW })
}

async function failure(work: Promise<unknown>): Promise<RequestError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(RequestError)
  return error as RequestError
}

describe('a fresh room', () => {
  it('is private, ends by itself, and has a token for each side', async () => {
    const room = await roomsWith().open({ createRoom: true })
    expect(double.complaints).toEqual([])
    const [made] = [...double.rooms.values()]
    expect(made).toMatchObject({
      privacy: 'private',
      properties: { exp: now + 4 * HOUR, eject_at_room_exp: true, enable_prejoin_ui: false },
    })
    expect(room).toMatchObject({
      url: `https://rooms.example/${made?.name}`,
      expiresAt: new Date((now + 4 * HOUR) * 1000),
    })
    expect(room.botToken).not.toBe(room.userToken)
    const facts = { room_name: made?.name, exp: now + 4 * HOUR }
    expect(double.tokens.get(room.botToken)).toEqual({ ...facts, is_owner: true })
    expect(double.tokens.get(room.userToken)).toEqual({ ...facts, is_owner: false })
    expect(room.joinUrl).toBe(`${room.url}?t=${room.userToken}`)
  })

  it('is what a client gets that says nothing about it', async () => {
    await roomsWith().open()
    expect(double.rooms.size).toBe(1)
  })

  it('has the properties that were wished for, and gives them to nobody but the browser', async () => {
    const room = await roomsWith().open({
      createRoom: true,
      roomProperties: { start_video_off: true, start_audio_off: true, enable_chat: true },
      meetingTokenProperties: { user_name: 'Ada', is_owner: true, room_name: 'other', exp: now + 60 },
    })
    const [made] = [...double.rooms.values()]
    expect(made?.properties).toMatchObject({
      start_video_off: true,
      start_audio_off: true,
      enable_chat: true,
    })
    expect(double.tokens.get(room.userToken)).toEqual({
      user_name: 'Ada',
      is_owner: true,
      room_name: made?.name,
      exp: now + 60,
    })
    expect(double.tokens.get(room.botToken)).not.toHaveProperty('user_name')
  })

  it.each([
    ['an earlier end', now + HOUR, now + HOUR],
    ['an end that is too far', now + 1000 * HOUR, now + 24 * HOUR],
    ['an end in the past', now - HOUR, now + 4 * HOUR],
    ['no end', null, now + 4 * HOUR],
    ['an end that is no number', 'never', now + 4 * HOUR],
    ['an infinite end', Number.NaN, now + 4 * HOUR],
  ])('always ends, with %s too', async (_, exp, expected) => {
    await roomsWith().open({ roomProperties: { exp } })
    expect([...double.rooms.values()][0]?.properties.exp).toBe(expected)
  })

  it('is refused when nothing may be made and there is nothing to go to', async () => {
    const error = await failure(roomsWith().open({ createRoom: false }))
    expect(error).toMatchObject({ code: 'invalid_request', status: 422 })
    expect(error.message).toContain('ROOM_SAMPLE_ROOM_URL')
    expect(double.seen).toEqual([])
  })
})

describe('the room of ROOM_SAMPLE_ROOM_URL', () => {
  const sampleRoomUrl = 'https://rooms.example/my-room'

  it.each([true, false, undefined])('is used with createRoom %s', async (createRoom) => {
    double.addRoom('my-room')
    const log = new LogCapture()
    const room = await roomsWith({ apiKey: KEY, sampleRoomUrl }, log.logger).open({
      createRoom,
      roomProperties: { start_video_off: true },
    })
    expect(room.url).toBe(sampleRoomUrl)
    expect(double.rooms.size).toBe(1)
    expect(double.tokens.get(room.botToken)).toMatchObject({ room_name: 'my-room', exp: now + 4 * HOUR })
    expect(double.complaints).toEqual([])
    expect(log.find('roomProperties are not used')).toBeDefined()
  })

  it('is not used for a fresh room', async () => {
    const room = await roomsWith({ apiKey: KEY, sampleRoomUrl }).openFresh()
    expect(room.url).not.toBe(sampleRoomUrl)
  })

  it('must name a room', async () => {
    const rooms = roomsWith({ apiKey: KEY, sampleRoomUrl: 'https://rooms.example/' })
    expect(await failure(rooms.open())).toMatchObject({ code: 'not_configured' })
  })
})

describe('a room for a telephone call', () => {
  it('has a SIP address and one token', async () => {
    const room = await roomsWith().openForCall('+15550001111')
    expect(room.sipUri).toBe(`sip:${room.name}@sip.rooms.example`)
    expect(double.rooms.get(room.name)?.properties).toMatchObject({
      start_video_off: true,
      exp: now + 4 * HOUR,
      sip: { display_name: '+15550001111' },
    })
    expect([...double.tokens.values()]).toEqual([
      { room_name: room.name, is_owner: true, exp: now + 4 * HOUR },
    ])
    expect(double.complaints).toEqual([])
  })

  it('is a clear error when the provider gives no SIP address', async () => {
    const plain = new RoomProviderDouble(KEY, { sip: false })
    await plain.listen()
    const rooms = new Rooms({ config: { apiKey: KEY, apiUrl: plain.apiUrl }, logger: silentLogger })
    expect(await failure(rooms.openForCall('+1555'))).toMatchObject({ code: 'provider_failed', status: 502 })
    await plain.close()
  })
})

describe('without a key', () => {
  it.each([undefined, 'https://rooms.example/my-room'])(
    'names the variable (sample room %s)',
    async (url) => {
      const rooms = roomsWith(url === undefined ? {} : { sampleRoomUrl: url })
      for (const work of [rooms.open(), rooms.openFresh(), rooms.openForCall('+1555')]) {
        const error = await failure(work)
        expect(error).toMatchObject({ code: 'not_configured', status: 501 })
        expect(error.message).toContain('ROOM_API_KEY')
      }
      expect(() => rooms.check()).toThrow('ROOM_API_KEY')
      expect(double.seen).toEqual([])
    },
  )
})

describe('a provider that fails', () => {
  it.each<[Mood, string]>([
    ['refusing', 'status 403'],
    ['silent', 'did not answer'],
    ['broken', 'could not be reached'],
    ['garbled', 'made no sense'],
    ['endless', 'made no sense'],
    ['elsewhere', 'status 302'],
  ])('becomes a 502 without the key when it is %s', async (mood, words) => {
    double.mood = mood
    const provider = new RestRoomProvider({
      apiKey: KEY,
      apiUrl: double.apiUrl,
      limitMs: mood === 'silent' ? 300 : undefined,
    })
    const error = await failure(provider.createRoom())
    expect(error).toMatchObject({ code: 'provider_failed', status: 502 })
    expect(error.message).toContain(words)
    expect(JSON.stringify([error.body, error.message, error.stack, error.cause])).not.toContain(KEY)
    expect(double.seen.map(({ path }) => path)).toEqual(['/v1/rooms'])
  })

  it('says what to look at when it does not know the key', async () => {
    const provider = new RestRoomProvider({ apiKey: 'another-key', apiUrl: double.apiUrl })
    const error = await failure(provider.createRoom())
    expect(error.message).toContain('ROOM_API_KEY')
    expect(error.message).not.toContain('another-key')
  })

  it('is reported when nobody listens at all', async () => {
    const provider = new RestRoomProvider({ apiKey: KEY, apiUrl: 'http://127.0.0.1:1/v1' })
    expect((await failure(provider.createRoom())).message).toContain('could not be reached')
  })

  it('tells what is wrong with the properties', async () => {
    const error = await failure(roomsWith().open({ roomProperties: { start_video_off: 'yes' } }))
    expect(error.message).toMatch(/refused to make a room \(status 400\).*start_video_off/s)
  })
})
