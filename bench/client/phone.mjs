import { WebSocket } from 'ws'
import { within } from '../wait.mjs'

const FRAME_MS = 20
const FRAME_BYTES = 160
const CONNECT_LIMIT_MS = 20_000
/** A tone of a fifth of a second begins each second, so that its begin can be told from the end of the one before. */
const PERIOD_FRAMES = 50
const TONE_FRAMES = 10
/** Beyond it a µ-law byte is part of the tone: a fourth of its level, far above what any filter rings. */
const LOUD = 0x40

const SILENCE = Buffer.alloc(FRAME_BYTES, 0xff).toString('base64')
/** A square wave of 500 Hz, which is loud from its first sample on. */
const TONE = Buffer.from(
  Uint8Array.from({ length: FRAME_BYTES }, (_, index) => (index % 16 < 8 ? 0x90 : 0x10)),
).toString('base64')

/** A carrier's end of a phone call, as lean as it can be: beeps in real time and times what comes back. */
export class Phone {
  #websocket
  #streamSid
  #frames = 0
  #nextAt = 0
  #timer
  #beepedAt
  #quiet = true
  #lastAt = 0
  #heard = () => {}
  /** Bytes of sound each way since `takeCounts`, and what was timed since. */
  #counts = noCounts()

  /**
   * @param {string} url
   * @param {number} index
   */
  constructor(url, index) {
    this.#streamSid = `MZ${index}`
    // The callers of a real carrier are never in step with each other; the golden ratio spreads them.
    this.#nextAt = ((index * 0.618034) % 1) * FRAME_MS
    this.#websocket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { perMessageDeflate: false })
  }

  /** Calls, and waits for the first sound that comes back. */
  async dial() {
    const heard = new Promise((resolve, reject) => {
      this.#heard = resolve
      this.#websocket.on('error', reject)
      this.#websocket.on('close', (code, reason) => {
        clearTimeout(this.#timer)
        reject(new Error(`The call was closed: ${code} ${reason}`))
      })
    })
    this.#websocket.on('message', (data) => this.#onMessage(data))
    this.#websocket.on('open', () => this.#begin())
    await within('sound from a phone call', heard, CONNECT_LIMIT_MS)
  }

  /** What was counted, and begins anew. */
  takeCounts() {
    const counts = this.#counts
    this.#counts = noCounts()
    return counts
  }

  close() {
    clearTimeout(this.#timer)
    this.#websocket.terminate()
  }

  #begin() {
    const streamSid = this.#streamSid
    const call = { accountSid: 'AC0', streamSid, callSid: `CA${streamSid}`, tracks: ['inbound'] }
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 }
    this.#send({ event: 'connected', protocol: 'Call', version: '1.0.0' })
    const start = { ...call, mediaFormat, customParameters: {} }
    this.#send({ event: 'start', sequenceNumber: '1', streamSid, start })
    this.#nextAt += performance.now()
    this.#speak()
  }

  /** Sends what is due and sleeps until the next frame is; a late timer makes up for itself. */
  #speak() {
    const now = performance.now()
    while (this.#nextAt <= now) {
      this.#sendFrame()
      this.#nextAt += FRAME_MS
    }
    this.#timer = setTimeout(() => this.#speak(), this.#nextAt - now)
  }

  #sendFrame() {
    const place = this.#frames % PERIOD_FRAMES
    if (place === 0) {
      if (this.#beepedAt !== undefined) this.#counts.lostTones += 1
      this.#beepedAt = performance.now()
    }
    const streamSid = this.#streamSid
    const timestamp = String(this.#frames * FRAME_MS)
    this.#frames += 1
    this.#counts.sent += FRAME_BYTES
    const payload = place < TONE_FRAMES ? TONE : SILENCE
    const media = { track: 'inbound', chunk: String(this.#frames), timestamp, payload }
    this.#send({ event: 'media', sequenceNumber: String(this.#frames + 1), streamSid, media })
  }

  #send(message) {
    if (this.#websocket.readyState === WebSocket.OPEN) this.#websocket.send(JSON.stringify(message))
  }

  #onMessage(data) {
    const now = performance.now()
    const message = JSON.parse(data)
    if (message.event === 'mark') this.#send(message)
    if (message.event !== 'media') return
    const sound = Buffer.from(message.media.payload, 'base64')
    this.#counts.heard += sound.length
    if (this.#lastAt !== 0) this.#counts.pauses.push(now - this.#lastAt)
    this.#lastAt = now
    const loud = sound.some((byte) => (~byte & 0x7f) > LOUD)
    if (loud && this.#quiet && this.#beepedAt !== undefined) {
      this.#counts.delays.push(now - this.#beepedAt)
      this.#beepedAt = undefined
    }
    this.#quiet = !loud
    this.#heard()
  }
}

function noCounts() {
  return { sent: 0, heard: 0, lostTones: 0, delays: [], pauses: [] }
}
