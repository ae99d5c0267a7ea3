import { MAX_MESSAGE_BYTES, outcomeOf } from '@botcli/protocol'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { MediaError } from '../errors.ts'
import { BROWSER_OFFER } from '../testing/offers.ts'
import { amplitudeAt, loudestHertz } from '../testing/spectrum.ts'
import { until } from '../testing/until.ts'
import { WebrtcTestClient, type WebrtcTestClientOptions } from '../testing/webrtc-client.ts'
import type { IceOptions } from '../wire.ts'
import type { LivenessLimits } from './liveness.ts'
import { WebrtcWire } from './webrtc-wire.ts'

const FORMAT = { inputRate: 16000, outputRate: 24000 }
const DONE = outcomeOf('bot_returned', 'The bot returned.')

class Call {
  readonly log: string[] = []
  readonly messages: unknown[] = []
  readonly notes: string[] = []
  #audio: number[] = []
  readonly wire: WebrtcWire
  readonly client: WebrtcTestClient
  restart = false
  readonly #ticker: NodeJS.Timeout
  readonly #tone = { phase: 0, left: 0, hertz: 0 }

  constructor(
    options: {
      readonly limits?: Partial<LivenessLimits>
      readonly ice?: IceOptions
      readonly client?: Partial<WebrtcTestClientOptions>
    } = {},
  ) {
    this.wire = new WebrtcWire({
      ice: options.ice ?? {},
      clock: () => performance.now(),
      log: (message) => this.notes.push(message),
      ...(options.limits && { limits: options.limits }),
      events: {
        connected: () => this.log.push('connected'),
        disconnected: () => this.log.push('disconnected'),
        gone: (cause) => this.log.push(`gone ${cause}`),
        audio: (samples) => this.#audio.push(...samples),
        message: (message) => this.messages.push(message),
        dtmf: () => {},
      },
    })
    this.wire.setFormat(FORMAT)
    this.client = new WebrtcTestClient({
      signal: async (offer) => (await this.wire.answer(offer, this.restart)).sdp,
      ...options.client,
    })
    this.#ticker = setInterval(() => this.#step(), 20)
  }

  get audio(): Int16Array {
    return Int16Array.from(this.#audio)
  }

  forget(): void {
    this.#audio = []
  }

  say(hertz: number, ms: number): void {
    this.#tone.hertz = hertz
    this.#tone.left = ms / 20
  }

  close(): void {
    clearInterval(this.#ticker)
    this.wire.close(DONE)
    this.client.close()
  }

  #step(): void {
    if (this.#tone.left <= 0) {
      this.wire.sendNothing()
      return
    }
    this.#tone.left -= 1
    this.wire.sendAudio(
      Int16Array.from({ length: FORMAT.outputRate / 50 }, () => {
        this.#tone.phase += (2 * Math.PI * this.#tone.hertz) / FORMAT.outputRate
        return 10000 * Math.sin(this.#tone.phase)
      }),
    )
  }
}

const calls: Call[] = []
function call(...args: ConstructorParameters<typeof Call>): Call {
  const made = new Call(...args)
  calls.push(made)
  return made
}

afterEach(() => {
  for (const made of calls.splice(0)) made.close()
})

describe('WebrtcWire', () => {
  it('carries sound both ways', async () => {
    const made = call()
    const { client, wire } = made
    await client.connect()
    await until('the wire is connected', () => made.log.includes('connected'))
    made.say(800, 600)
    await client.sendTone(440, 600)
    await until('both heard enough', () => made.audio.length >= 8000 && client.heard.length >= 8000)
    expect(loudestHertz(made.audio.slice(1600, 8000), 16000)).toBe(440)
    expect(amplitudeAt(made.audio.slice(1600, 8000), 440, 16000)).toBeGreaterThan(7000)
    expect(loudestHertz(client.heard.slice(1600, 8000), 16000)).toBe(800)
    expect(wire.counters).toEqual({ audioInConcealedMs: 0, badMessages: 0 })
  })

  it('marks the start of speech, ends it with silence, and reports on its stream', async () => {
    const made = call()
    await made.client.connect()
    made.say(440, 200)
    await until('speech and its tail came', () => made.client.packets.length >= 15)
    expect(made.client.packets.slice(0, 15).map((packet) => (packet[1] ?? 0) >= 128)).toEqual([
      true,
      ...new Array(14).fill(false),
    ])
    await until('a report came', () => made.client.reports.length > 0)
    expect(made.client.reports[0]?.[1]).toBe(200)
  })

  it('carries the longest message that a bot may send, and tells of one that is too long', async () => {
    const made = call()
    await made.client.connect()
    const longest = 'x'.repeat(MAX_MESSAGE_BYTES - 2)
    expect(made.wire.sendMessage(longest)).toBe(true)
    expect(made.wire.sendMessage('x'.repeat(300_000))).toBe(false)
    await until('the message came', () => made.client.messages.length === 1)
    expect(made.client.messages).toEqual([JSON.stringify(longest)])
    made.wire.close(DONE)
    expect(made.wire.sendMessage('late')).toBe(false)
  })

  it('carries messages both ways, also ones sent before the channel is open', async () => {
    const made = call()
    made.wire.sendMessage({ early: true })
    expect(made.wire.messageBacklog).toBeGreaterThan(0)
    await made.client.connect()
    made.wire.sendMessage({ late: 'grüße' })
    await until('messages came', () => made.client.messages.length === 2)
    expect(made.client.messages.map((text) => JSON.parse(text))).toEqual([{ early: true }, { late: 'grüße' }])
    expect(made.wire.messageBacklog).toBe(0)
    made.client.sendText('ping: 1712345678901')
    made.client.send({
      type: 'signalling',
      message: { type: 'trackStatus', receiver_index: 0, enabled: true },
    })
    made.client.send({ label: 'rtvi-ai', type: 'client-ready', id: '1' })
    made.client.sendText('{not json')
    made.client.sendBinary(Uint8Array.of(1, 2, 3))
    made.client.send({ last: true })
    await until('the last message came', () => made.messages.length === 2)
    expect(made.messages).toEqual([{ label: 'rtvi-ai', type: 'client-ready', id: '1' }, { last: true }])
    expect(made.wire.counters.badMessages).toBe(2)
  })

  it('leaves out a message that the client cannot take', async () => {
    const made = call()
    await made.client.connect()
    made.client.send('hello')
    await until('the channel is open on both sides', () => made.messages.length === 1)
    made.wire.sendMessage('x'.repeat(300_000))
    made.wire.sendMessage({ after: true })
    await until('the next message came', () => made.client.messages.length === 1)
    expect(JSON.parse(made.client.messages[0] ?? '')).toEqual({ after: true })
    expect(made.notes).toContain('a message was left out: it is larger than the client takes')
  })

  it('makes up for lost packets and counts them', async () => {
    const made = call()
    await made.client.connect()
    await made.client.sendTone(440, 200)
    made.client.sendRtp(null, 1)
    made.client.sendRtp(null, 1)
    await made.client.sendTone(440, 200)
    await until('all came', () => made.audio.length >= 6400)
    expect(made.wire.counters.audioInConcealedMs).toBe(40)
    expect(loudestHertz(made.audio, 16000)).toBe(440)
  })

  it('answers a later offer on the same connection', async () => {
    const made = call()
    await made.client.connect()
    await until('the wire is connected', () => made.log.includes('connected'))
    const before = made.wire.pcId
    await made.client.negotiate()
    expect(made.wire.pcId).toBe(before)
    await made.client.sendTone(440, 200)
    await until('sound still flows', () => made.audio.length >= 2400)
    expect(made.log).toEqual(['connected'])
  })

  it('replaces the connection under the running session', async () => {
    const made = call()
    await made.client.connect()
    await until('the wire is connected', () => made.log.includes('connected'))
    const before = made.wire.pcId
    made.restart = true
    await made.client.reconnect()
    await until('the wire is connected again', () => made.log.at(-1) === 'connected' && made.log.length === 3)
    expect(made.log).toEqual(['connected', 'disconnected', 'connected'])
    expect(made.wire.pcId).not.toBe(before)
    made.wire.sendMessage({ again: true })
    made.forget()
    made.say(800, 400)
    await made.client.sendTone(600, 400)
    await until('all flows again', () => made.audio.length >= 4800 && made.client.messages.length === 1)
    expect(loudestHertz(made.audio.slice(1600), 16000)).toBe(600)
    await until('the client hears', () => made.client.heard.length >= 4800)
  })

  it('is gone a moment after the client closed', async () => {
    const made = call({ limits: { graceMs: 50 } })
    await made.client.connect()
    await until('the wire is connected', () => made.log.includes('connected'))
    made.client.close()
    await until('the wire is gone', () => made.log.includes('gone client_left'))
    expect(made.log).toEqual(['connected', 'disconnected', 'gone client_left'])
  })

  it('is gone when nothing is heard any more', async () => {
    const made = call({ limits: { silenceMs: 300, graceMs: 50 } })
    await made.client.connect()
    await until('the wire is gone', () => made.log.some((note) => note.startsWith('gone')))
    expect(made.log).toEqual(['connected', 'disconnected', 'gone client_lost'])
  })

  it('tells the client why it closes, and then closes', async () => {
    const made = call()
    await made.client.connect()
    made.client.send('hello')
    await until('the channel is open on both sides', () => made.messages.length === 1)
    made.wire.close(outcomeOf('bot_failed', 'The bot threw an error.'))
    made.wire.close(DONE)
    await until('the last words came', () => made.client.messages.length === 2)
    const [error, left] = made.client.messages.map((text) => JSON.parse(text))
    expect(error).toMatchObject({ type: 'error', data: { error: 'The bot threw an error.', fatal: true } })
    expect(left).toEqual({ type: 'signalling', message: { type: 'peerLeft' } })
    await until('the client sees the end', () => made.client.state === 'closed')
    expect(made.log).toEqual(['connected'])
    await expect(made.wire.answer('v=0', false)).rejects.toMatchObject({ code: 'media_unavailable' })
  })

  it('declines video without closing it, and announces another address', async () => {
    const video = (mid: number) =>
      `m=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:${mid}\r\na=sendrecv\r\na=rtcp-mux\r\na=rtpmap:96 VP8/90000\r\n`
    const made = call({ ice: { announcedAddress: '192.0.2.7' } })
    const offer = await made.client.createOffer()
    const edited = `${offer.replace(/(a=group:BUNDLE) .*/, '$1 0 1 2 3')}${video(2)}${video(3)}`
    const { sdp: answer } = await made.wire.answer(edited, false)
    expect(answer.match(/^m=\S+ \S+/gm)?.map((line) => line.split(' ')[0])).toEqual([
      'm=audio',
      'm=application',
      'm=video',
      'm=video',
    ])
    expect(answer).toContain('a=group:BUNDLE 0 1 2 3')
    expect(answer.match(/a=inactive/g)).toHaveLength(2)
    const addresses = [...answer.matchAll(/a=candidate:\S+ 1 UDP \d+ (\S+)/g)].map((match) => match[1])
    expect(addresses).toEqual(['192.0.2.7'])
  })

  it('shares one UDP port between callers', async () => {
    const port = 20000 + Math.floor(Math.random() * 20000)
    const first = call({ ice: { port } })
    const second = call({ ice: { port } })
    await first.client.connect()
    await second.client.connect()
    await first.client.sendTone(440, 200)
    await second.client.sendTone(600, 200)
    await until('both are heard', () => first.audio.length >= 2400 && second.audio.length >= 2400)
    expect(loudestHertz(first.audio, 16000)).toBe(440)
    expect(loudestHertz(second.audio, 16000)).toBe(600)
  })

  it('takes candidates of any shape at any time', async () => {
    const made = call()
    const odd = [
      '',
      'candidate:',
      'candidate:1 1 udp 1 abc.local 9 typ host',
      'candidate:1 1 tcp 1 192.0.2.1 9 typ host',
    ]
    const candidates = odd.map((candidate) => ({ candidate, mid: '0' }))
    made.wire.addCandidates(candidates)
    await made.client.connect()
    await until('the wire is connected', () => made.log.includes('connected'))
    made.wire.addCandidates(candidates)
    made.wire.addCandidates([{ candidate: 'candidate:1 1 udp 2122260223 192.0.2.1 5000 typ host', mid: '7' }])
    made.close()
    made.wire.addCandidates(candidates)
    expect(made.log).toEqual(['connected'])
  })

  it('keeps a bounded number of messages for a channel that is not open yet', async () => {
    const made = call()
    for (let i = 0; i < 500; i += 1) made.wire.sendMessage({ i })
    const large = call()
    for (let i = 0; i < 50; i += 1) large.wire.sendMessage('x'.repeat(10_000))
    expect(large.wire.messageBacklog).toBeLessThanOrEqual(256 * 1024)
    await made.client.connect()
    made.wire.sendMessage('last')
    await until('the last message came', () => made.client.messages.at(-1) === '"last"')
    expect(made.client.messages).toHaveLength(101)
    expect(made.client.messages[99]).toBe('{"i":99}')
  })

  it('stays with the old connection when a later offer is bad', async () => {
    const made = call()
    await made.client.connect()
    await until('the wire is connected', () => made.log.includes('connected'))
    const before = made.wire.pcId
    await expect(made.wire.answer('v=0', true)).rejects.toMatchObject({ code: 'invalid_offer' })
    expect(made.wire.pcId).toBe(before)
    await made.client.sendTone(440, 200)
    await until('sound still flows', () => made.audio.length >= 2400)
    expect(made.log).toEqual(['connected'])
  })

  it('answers the newer of two offers that come at once', async () => {
    const made = call()
    const [, newer] = await Promise.allSettled([
      made.wire.answer(BROWSER_OFFER, false),
      made.client.createOffer().then((offer) => made.wire.answer(offer, true)),
    ])
    if (newer.status === 'rejected') throw newer.reason
    made.client.accept(newer.value.sdp)
    await until('the wire is connected', () => made.log.includes('connected'))
    expect(made.wire.pcId).toBe(newer.value.pcId)
  })

  it('answers any offer or says that it is bad', async () => {
    const lines = BROWSER_OFFER.split('\r\n')
    const edits = fc.array(
      fc.tuple(fc.nat(lines.length - 1), fc.oneof(fc.string(), fc.constantFrom(...lines))),
      {
        maxLength: 2,
      },
    )
    await fc.assert(
      fc.asyncProperty(edits, async (list) => {
        const copy = [...lines]
        for (const [at, text] of list) copy[at] = text
        const { wire, client } = call()
        const outcome = await wire.answer(copy.join('\r\n'), false).catch((error: unknown) => error)
        wire.close(DONE)
        client.close()
        if (outcome instanceof MediaError) expect(outcome.code).toBe('invalid_offer')
        else expect(outcome).toMatchObject({ sdp: expect.stringContaining('m=audio') })
      }),
      { numRuns: 40 },
    )
  })
})
