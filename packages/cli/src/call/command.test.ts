import { EventEmitter, once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeWav, isVoiced } from '@botcli/audio'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HOUSE_RATE, type HouseBot, PhoneHouse } from '../../../media/src/testing/phone-house.ts'
import { tone } from '../../../media/src/testing/tone.ts'
import { until } from '../../../media/src/testing/until.ts'
import type { Io } from '../io.ts'
import { main } from '../main.ts'

/** The command's surroundings, with a terminal that a test types on. */
class Desk extends EventEmitter implements Io {
  out = ''
  err = ''
  raw = false
  reading = false
  readonly exits: number[] = []
  readonly env = {}
  readonly #folder: string
  readonly #keys = new EventEmitter()
  readonly stdout = {
    write: (text: string) => {
      this.out += text
    },
    on: () => {},
  }
  readonly stderr = {
    write: (text: string) => {
      this.err += text
    },
    on: () => {},
  }
  readonly stdin: NonNullable<Io['stdin']>

  constructor(folder: string, isTTY = false) {
    super()
    this.#folder = folder
    this.stdin = {
      isTTY,
      setRawMode: (raw) => {
        this.raw = raw
      },
      on: (event, listener) => this.#keys.on(event, listener),
      off: (event, listener) => this.#keys.off(event, listener),
      resume: () => {
        this.reading = true
      },
      pause: () => {
        this.reading = false
      },
    }
  }

  cwd(): string {
    return this.#folder
  }

  exit(code: number): void {
    this.exits.push(code)
  }

  type(keys: string): void {
    this.#keys.emit('data', Buffer.from(keys))
  }

  /** Everything that the command listened to and did not let go. */
  get left(): readonly unknown[] {
    return [...this.eventNames(), ...this.#keys.eventNames()]
  }
}

let folder: string
const houses: PhoneHouse[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-call-'))
})
afterEach(async () => {
  for (const house of houses.splice(0)) await house.close()
  await rm(folder, { recursive: true, force: true })
})

async function houseOf(bot?: HouseBot): Promise<PhoneHouse> {
  const house = await PhoneHouse.open(bot)
  houses.push(house)
  return house
}

const GREETER: HouseBot = { began: (voice) => voice.say(tone(HOUSE_RATE, 400)) }

describe('a call that goes well', () => {
  it('ends with 0, shows a time line and a summary', async () => {
    const { url } = await houseOf({
      ...GREETER,
      keys: (voice) => voice.say(tone(HOUSE_RATE, 300)),
    })
    const desk = new Desk(folder)
    expect(await main(['call', url, '--keys', '5', '--from', '+15557777'], desk)).toBe(0)
    const lines = desk.out.split('\n')
    const place = (part: string) => lines.findIndex((line) => line.includes(part))
    const inOrder = [
      '+15557777 calls',
      'answered',
      'bot     speaks',
      'presses 5',
      'after the caller',
      'hangs up',
    ]
    const places = inOrder.map(place)
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(lines[place('answered')]).toMatch(/^ +\d+\.\d\d s {2}· {9}answered$/)
    expect(desk.out).toMatch(/Bot turns +2, \d\.\d\d s in all/)
    expect(desk.out).toMatch(/Protocol +kept/)
    expect(desk.out).toMatch(/Hung up +by the caller/)
    expect(desk.out).toContain('The bot was heard.')
    expect([desk.err, desk.left]).toEqual(['', []])
  })

  it('is JSON for programs, and sound in files that line up with it', async () => {
    const { url } = await houseOf(GREETER)
    const desk = new Desk(folder)
    const argv = ['call', url, '--json', '--speech', '500ms', '--for', '4s']
    expect(await main([...argv, '--save', 'bot.wav', '--save-both', 'both.wav'], desk)).toBe(0)
    const events = desk.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const summary = events.at(-1)
    expect(events[0]).toMatchObject({ type: 'dialled', carrier: 'telephony_a' })
    expect(summary).toMatchObject({ type: 'summary', ok: true, faults: [], violationCount: 0 })
    const { rate, channels } = decodeWav(await readFile(join(folder, 'bot.wav')))
    const [heard = new Int16Array()] = channels
    const start = (summary.turns[0].startMs * rate) / 1000
    expect(isVoiced(heard.subarray(0, start - 200))).toBe(false)
    expect(isVoiced(heard.subarray(start, start + rate * 0.1))).toBe(true)
    const both = decodeWav(await readFile(join(folder, 'both.wav'))).channels
    expect(both[1]).toEqual(heard)
    expect(isVoiced(both[0] ?? new Int16Array(), 50)).toBe(true)
  })

  it('hands parameters on, as the carrier that was chosen', async () => {
    const house = await houseOf(GREETER)
    const desk = new Desk(folder)
    const argv = [
      'call',
      house.url,
      '--as',
      'telephony_d',
      '--rate',
      '16000',
      '--param',
      'plan=gold',
      '--keys',
      '1',
    ]
    expect(await main([...argv, '--for', '3s'], desk)).toBe(0)
    expect(house.calls[0]?.call).toMatchObject({
      transport: 'telephony_d',
      custom: { plan: 'gold' },
      rate: 16_000,
    })
  })
})

describe('a call that does not', () => {
  it('ends with 1 when nobody is there', async () => {
    const desk = new Desk(folder)
    expect(await main(['call', 'http://127.0.0.1:9'], desk)).toBe(1)
    expect(desk.out).toMatch(/Answered +no/)
    expect(desk.err).toContain('Nobody answered at ws://127.0.0.1:9/ws')
    expect(desk.err).toContain('botcli run')
  })

  it('ends with 1 when there is nobody to be asked for a session', async () => {
    const desk = new Desk(folder)
    expect(await main(['call', 'http://127.0.0.1:9', '--body', '{}'], desk)).toBe(1)
    expect(desk.err).toContain('did not answer POST http://127.0.0.1:9/start')
    expect(desk.left).toEqual([])
  })

  it('ends with 1 when the bot says nothing, or nothing but silence', async () => {
    for (const [bot, why] of [
      [{}, 'The bot was not heard.'],
      [{ began: (voice) => voice.say(new Int16Array(HOUSE_RATE)) }, 'nothing but silence'],
    ] satisfies [HouseBot, string][]) {
      const { url } = await houseOf(bot)
      const desk = new Desk(folder)
      expect(await main(['call', url, '--for', '1s'], desk)).toBe(1)
      expect(desk.err).toContain(why)
      expect(desk.out).toContain('Failed.')
    }
  })

  it('ends with 1 when the bot falls over', async () => {
    const house = await houseOf(GREETER)
    const desk = new Desk(folder)
    const calling = main(['call', house.url], desk)
    await until('the bot is heard', () => desk.out.includes('speaks'))
    await house.end(0, { result: 'failed', cause: 'bot_failed', message: 'It fell over.' })
    expect(await calling).toBe(1)
    expect(desk.err).toContain('The runner ended the call (code 1011) with the words: It fell over.')
  })

  it('ends with 1 when the runner does not speak the language of the carrier', async () => {
    const { WebSocketServer } = await import('ws')
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    server.on('connection', (socket) => socket.send('{"event":"nonsense"}'))
    const desk = new Desk(folder)
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect(await main(['call', url, '--for', '500ms'], desk)).toBe(1)
    expect(desk.err).toContain("broke the carrier's protocol once")
    server.close()
  })

  it('ends with 2 when the command line is wrong, and calls nobody', async () => {
    const desk = new Desk(folder)
    expect(await main(['call', '--as', 'telephony_z', '--keys', 'x'], desk)).toBe(2)
    expect(desk.out).toBe('')
    expect(desk.err).toContain('--as must be one of telephony_a')
    expect(desk.err).toContain('--keys must be')
  })
})

describe('a call that is stopped', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s hangs up politely and ends with %s', async (signal, code) => {
    const house = await houseOf()
    const desk = new Desk(folder)
    const calling = main(['call', house.url, '--speech', '20s'], desk)
    await until('the call is there', () => house.calls.length === 1)
    desk.emit(signal)
    expect(await calling).toBe(code)
    await until('the house knows', () => house.calls[0]?.over !== undefined)
    expect(house.calls[0]?.over?.cause).toBe('client_left')
    expect([desk.err, desk.left, desk.exits]).toEqual(['', [], []])
  })
})

describe('a terminal', () => {
  it('is a keypad while the call lasts, and a terminal again after it', async () => {
    const pressed: string[] = []
    const house = await houseOf({ ...GREETER, keys: (_, keys) => pressed.push(keys) })
    const desk = new Desk(folder, true)
    const calling = main(['call', house.url, '--speech', '20s'], desk)
    await until('the keypad is there', () => desk.raw && desk.reading)
    desk.type('1x')
    desk.type('#')
    await until('the keys have come', () => pressed.join('') === '1#')
    await until('the bot was heard', () => desk.out.includes('speaks'))
    desk.type('q')
    expect(await calling).toBe(0)
    expect(desk.out).toContain('hangs up, because q was pressed')
    expect([desk.raw, desk.reading, desk.left]).toEqual([false, false, []])
  })

  it('stops the call with Ctrl-C', async () => {
    const house = await houseOf()
    const desk = new Desk(folder, true)
    const calling = main(['call', house.url, '--speech', '20s'], desk)
    await until('the call is there', () => house.calls.length === 1)
    desk.type('\u0003')
    expect(await calling).toBe(130)
    expect(desk.raw).toBe(false)
  })
})

it('has a help that names every option and misbehaviour', async () => {
  const desk = new Desk(folder)
  expect(await main(['call', '--help'], desk)).toBe(0)
  for (const word of ['--as', '--say', '--save-both', '--misbehave', 'half-closed=3s', 'Exit codes']) {
    expect(desk.out).toContain(word)
  }
})
