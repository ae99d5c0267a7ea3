import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { SampleQueue } from '@botcli/audio'
import { CARRIER_IDS, type GuestPort, guestPort, type SessionOutcome } from '@botcli/protocol'
import { LocalMediaHost } from '../host/local-media-host.ts'
import type { CarrierCall } from '../host/media-host.ts'
import type { GuestOver } from '../session/guest-channel.ts'
import type { MediaReport } from '../session/hosted-session.ts'
import { START } from './session-fixture.ts'

/** The rate at which the bots of this house hear and speak. */
export const HOUSE_RATE = 16_000

/** Every carrier may call, and nobody else. */
const DOOR = { served: CARRIER_IDS, evals: false, passThrough: false }

/** Far below the longest piece that a bot may send. */
const PIECE_SAMPLES = HOUSE_RATE / 50

/** Speaks for a bot, never more than it may. */
export class HouseVoice {
  readonly #port: GuestPort
  readonly #queue = new SampleQueue()
  #sent = 0
  #limit = 0

  constructor(port: GuestPort) {
    this.#port = port
  }

  say(samples: Int16Array): void {
    this.#queue.push(samples)
    this.#speak()
  }

  press(keys: string): void {
    this.#port.send({ type: 'dtmf', keys })
  }

  /** So many samples may be sent in all. */
  allow(limit: number): void {
    this.#limit = limit
    this.#speak()
  }

  #speak(): void {
    while (this.#queue.length > 0 && this.#sent < this.#limit) {
      const piece = this.#queue.read(Math.min(PIECE_SAMPLES, this.#limit - this.#sent))
      this.#sent += piece.length
      this.#port.sendAudioOut(0, piece)
    }
  }
}

/** A bot of a test: hears sound and keys, and answers with its voice. */
export interface HouseBot {
  /** The call is there. */
  began?(voice: HouseVoice): void
  heard?(voice: HouseVoice, samples: Int16Array): void
  keys?(voice: HouseVoice, keys: string): void
}

/** Says back what it hears. */
export const ECHO: HouseBot = {
  heard: (voice, samples) => voice.say(samples),
}

/** A call as the house saw it. */
export interface HouseCall {
  readonly call: CarrierCall
  over: GuestOver | undefined
  report: MediaReport | undefined
}

/** A real media host behind a real server, with a bot at the other end of each call. */
export class PhoneHouse {
  readonly calls: HouseCall[] = []
  /** Why calls were refused. */
  readonly refusals: string[] = []
  readonly #host = new LocalMediaHost({ ice: {}, maxMemoryBytes: 1024 ** 3 })
  readonly #bot: HouseBot
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #count = 0

  private constructor(bot: HouseBot) {
    this.#bot = bot
    this.#server = createServer()
    this.#server.on('upgrade', (request, socket: Socket, head) => {
      this.#sockets.add(socket)
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, value ?? '']),
      )
      this.#take({ url: '/ws', headers, head }, socket).catch((error) => this.refusals.push(error.message))
    })
  }

  static async open(bot: HouseBot = ECHO): Promise<PhoneHouse> {
    const house = new PhoneHouse(bot)
    house.#server.listen(0, '127.0.0.1')
    await once(house.#server, 'listening')
    return house
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/ws`
  }

  get load(): number {
    return this.#host.load
  }

  /** Ends a call from this side. */
  async end(index: number, outcome: SessionOutcome): Promise<void> {
    await this.#host.close(`call-${index + 1}`, outcome, 0)
  }

  async close(): Promise<void> {
    const outcome = { result: 'ok', cause: 'shutdown', message: 'The test is over.' } as const
    for (let index = 0; index < this.#count; index += 1) await this.end(index, outcome)
    for (const socket of this.#sockets) socket.destroy()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #take(request: Parameters<LocalMediaHost['openCarrier']>[1], socket: Socket): Promise<void> {
    this.#count += 1
    const id = `call-${this.#count}`
    let over: GuestOver | undefined
    const caller = await this.#host.openCarrier(id, request, socket, DOOR, {
      connected: () => {},
      disconnected: () => {},
      report: () => {},
      over: (reason) => {
        over = reason
        this.#host
          .close(id, { result: 'ok', cause: 'client_left', message: reason.message }, 0)
          .then((report) => Object.assign(seen, { over, report }))
      },
    })
    // The door lets nobody else in.
    const call = caller as CarrierCall
    const seen: HouseCall = { call, over, report: undefined }
    this.calls.push(seen)
    const [link, far] = duplexPair()
    let heard = 0
    const port = guestPort(far, {
      closed: () => {},
      message: (message) => {
        if (message.type === 'ping') port.send({ type: 'pong', id: message.id, rss: 1 })
        if (message.type === 'dtmf') this.#bot.keys?.(voice, message.keys)
        if (message.type === 'cancel') port.send({ type: 'end', outcome: 'returned' })
      },
      frame: (frame) => {
        if (frame.kind === 'playback') voice.allow(frame.limit)
        if (frame.kind !== 'audioIn') return
        heard += 1
        port.laterHeard(heard)
        port.flush()
        this.#bot.heard?.(voice, frame.samples)
      },
    })
    const voice = new HouseVoice(port)
    port.resume()
    await this.#host.join(id, link, { ...START, transport: call.transport })
    port.send({ type: 'format', inputRate: HOUSE_RATE, outputRate: HOUSE_RATE })
    this.#bot.began?.(voice)
  }
}
