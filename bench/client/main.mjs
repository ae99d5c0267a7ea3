// The load generator: a process of its own, so that what it costs is not counted. Takes commands from its parent.
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { quantile, spread } from '../stats.mjs'
import { sleep, within } from '../wait.mjs'
import { Caller } from './caller.mjs'
import { Phone } from './phone.mjs'
import { getOften, postMany, startAndStop } from './requests.mjs'
import { Visitor } from './visitor.mjs'
import { encodeVoice } from './voice.mjs'

/** Callers that connect at the same time; more would measure the rush and not the talk. */
const AT_ONCE = 2
const DIAL_PAUSE_MS = 300

const voice = encodeVoice()
/** @type {(Caller | { close(): void })[]} */
let callers = []
/** @type {Phone[]} */
let phones = []
/** @type {Map<string, Visitor>} */
const visitors = new Map()

const COMMANDS = {
  /** One call, until the first sound comes back. */
  async firstAudio({ url }) {
    const caller = new Caller(url, voice)
    try {
      return await caller.connect()
    } finally {
      caller.close()
    }
  },

  /** Calls that stay. Tells how many came to life. */
  async open({ url, count }) {
    let left = count
    const worker = async () => {
      while (left > 0) {
        left -= 1
        const caller = new Caller(url, voice)
        callers.push(caller)
        await caller.connect().catch((error) => process.stderr.write(`caller: ${error.message}\n`))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    return callers.filter(({ voiced }) => voiced > 0).length
  },

  /** Counts packets for a while. */
  async measure({ ms }) {
    const count = () => ({
      at: performance.now(),
      sent: callers.reduce((sum, { sent }) => sum + sent, 0),
      voiced: callers.map(({ voiced }) => voiced),
    })
    const before = count()
    await sleep(ms)
    const after = count()
    const expected = (after.at - before.at) / 20
    const shares = after.voiced.map((voiced, index) => (voiced - before.voiced[index]) / expected)
    return {
      sent: (after.sent - before.sent) / (expected * callers.length),
      heard: shares.reduce((sum, share) => sum + share, 0) / shares.length,
      worst: Math.min(...shares),
    }
  },

  /** Phone calls that stay, one after the other, so that a spare bot is ready for each. */
  async dial({ url, count }) {
    for (let index = 0; index < count; index += 1) {
      const phone = new Phone(url, index)
      phones.push(phone)
      await phone.dial()
      await sleep(DIAL_PAUSE_MS)
    }
  },

  /** Times the phones' sound for a while. */
  async talk({ ms }) {
    for (const phone of phones) phone.takeCounts()
    const begin = performance.now()
    await sleep(ms)
    const frames = (performance.now() - begin) / 20
    const counts = phones.map((phone) => phone.takeCounts())
    const sum = (key) => counts.reduce((total, count) => total + count[key], 0)
    const shares = counts.map(({ heard }) => heard / 160 / frames)
    const pauses = counts.flatMap(({ pauses }) => pauses)
    return {
      delay: spread(counts.flatMap(({ delays }) => delays)),
      pause: { p50: quantile(pauses, 0.5), p99: quantile(pauses, 0.99), max: Math.max(...pauses) },
      lostTones: sum('lostTones'),
      sent: sum('sent') / 160 / frames / phones.length,
      heard: shares.reduce((total, share) => total + share, 0) / shares.length,
      worst: Math.min(...shares),
    }
  },

  async closeAll() {
    for (const caller of [...callers, ...phones]) caller.close()
    callers = []
    phones = []
  },

  /** A call that stays until `closeAll`; tells when it was sent, by the clock that all processes of a machine share. */
  async call({ url, wire }) {
    if (wire === 'webrtc') {
      const caller = new Caller(url, voice)
      callers.push(caller)
      await caller.connect()
      return String(caller.offeredAt)
    }
    const sentAt = process.hrtime.bigint()
    const websocket = new WebSocket(`${url.replace('http', 'ws')}/ws-client`)
    callers.push({ close: () => websocket.terminate() })
    await within('the WebSocket to open', once(websocket, 'open'), 20_000)
    websocket.on('error', () => {})
    return String(sentAt)
  },

  /** A session from its start until the bot has given back the first message, in milliseconds. */
  async visit({ startUrl, key }) {
    const begin = performance.now()
    const visitor = await Visitor.start({ startUrl, key })
    await visitor.exchange()
    const ms = performance.now() - begin
    await visitor.close()
    return ms
  },

  /** A session that stays until `leave`. */
  async stay({ name, startUrl, key }) {
    const visitor = await Visitor.start({ startUrl, key })
    visitors.set(name, visitor)
    await visitor.exchange()
    return visitor.sessionId
  },

  /** Milliseconds of messages to the bot and back, or of pings, one after the other. */
  async bounce({ name, what, count }) {
    const visitor = visitors.get(name)
    const times = []
    for (let index = 0; index < count; index += 1) {
      const begin = performance.now()
      await visitor[what]()
      times.push(performance.now() - begin)
    }
    return times
  },

  async leave({ name }) {
    await visitors.get(name)?.close()
    visitors.delete(name)
  },

  postMany,
  getOften,
  startAndStop,
}

process.on('message', async ({ id, command, options }) => {
  try {
    process.send({ id, result: await COMMANDS[command](options ?? {}) })
  } catch (error) {
    process.send({ id, error: error instanceof Error ? error.message : String(error) })
  }
})
// The native library would keep the process alive or crash it on a natural end.
process.on('disconnect', () => process.exit(0))
process.on('SIGTERM', () => process.exit(0))
process.on('SIGINT', () => {})
