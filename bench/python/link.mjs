import { fileURLToPath } from 'node:url'
import { encodeAudioIn, encodePlayback, hostPort } from '../../packages/protocol/dist/index.js'
import { Child } from '../children.mjs'
import { quantile } from '../stats.mjs'
import { sleep, until, within } from '../wait.mjs'
import { ECHO, PACKAGE_ENV, systemPython } from './bots.mjs'

const BARE = fileURLToPath(new URL('../bare/echo.py', import.meta.url))
const FRAME_MS = 20
const FRAME_SAMPLES = 320
/** The host tells the position as often. */
const PLAYBACK_FRAMES = 5
const AHEAD_SAMPLES = 16_000
const WARM_UP = 50

/** A frame of sound over the link into a Python bot and back, beside the same bytes through a bare Python process. */
export const pythonLink = {
  title: 'Python: sound over the link',
  /** @param {import('../main.mjs').Bench} bench */
  async run({ quick, note }) {
    const frames = quick ? 250 : 1500
    const python = await systemPython()
    const ends = [new GuestEnd(python), new BareEnd(python)]
    try {
      for (const end of ends) await end.open()
      // In turns, so that whatever else the machine does falls on both alike.
      let nextAt = performance.now()
      for (let index = 0; index < frames + WARM_UP; index += 1) {
        for (const end of ends) {
          end.send(index)
          nextAt += FRAME_MS / ends.length
          await sleep(nextAt - performance.now())
        }
      }
      await sleep(200)
      const [ours, bare] = ends.map(({ times }) => times.slice(WARM_UP))
      if (ours.length < frames) note(`link: ${frames - ours.length} of ${frames} frames did not come back`)
      const rank = (name, share) => ({
        name: `python link, frame in to frame out, ${name}`,
        unit: 'ms',
        ours: quantile(ours, share),
        bare: quantile(bare, share),
      })
      return [rank('p50', 0.5), rank('p99', 0.99)]
    } finally {
      for (const end of ends) await end.stop()
    }
  },
}

/** The host's end of a link to the echo bot, with nothing else around it. */
class GuestEnd {
  #child
  #port
  #said = new Set()
  #sentAt = []
  #heard = 0
  #broken
  /** Milliseconds that each frame took. */
  times = []

  /** @param {string} python */
  constructor(python) {
    const env = { ...PACKAGE_ENV, BOTCLI_BOT_PATH: ECHO, ENV: 'local' }
    this.#child = new Child(python, ['-m', 'botcli.guest'], { env, link: true })
    this.#port = hostPort(this.#child.link, {
      message: ({ type }) => this.#said.add(type),
      frame: (frame) => this.#onFrame(frame),
      closed: (error) => {
        this.#broken = error ?? new Error(`The guest closed its link: ${this.#child.lastWords}`)
      },
    })
  }

  async open() {
    await this.#hear('ready')
    const websocket = { path: '/ws-client', remoteAddress: '127.0.0.1' }
    this.#port.send({
      type: 'start',
      start: { sessionId: 'bench', transport: 'websocket', body: {}, websocket },
    })
    await this.#hear('format')
    this.#port.send({ type: 'connected' })
    this.#port.laterPlayback(0, 0, AHEAD_SAMPLES)
    this.#port.flush()
  }

  /** @param {number} index carried by the sound itself, because the bot may leave frames out */
  send(index) {
    const samples = new Int16Array(FRAME_SAMPLES)
    samples[0] = index
    if (index % PLAYBACK_FRAMES === 0) this.#port.laterPlayback(0, this.#heard, this.#heard + AHEAD_SAMPLES)
    const now = performance.now()
    this.#sentAt[index] = now
    this.#port.sendAudioIn(Math.round(now - this.#sentAt[0]), samples)
  }

  async stop() {
    this.#port.destroy()
    await this.#child.stop()
  }

  #hear(type) {
    return until(`the guest to say ${type}`, () => {
      if (this.#broken !== undefined) throw this.#broken
      return this.#said.has(type)
    })
  }

  #onFrame(frame) {
    if (frame.kind !== 'audioOut') return
    const now = performance.now()
    this.#heard += frame.samples.length
    for (let at = 0; at < frame.samples.length; at += FRAME_SAMPLES) {
      this.times.push(now - this.#sentAt[frame.samples[at]])
    }
  }
}

/** A socket pair to a process that sends all bytes back. */
class BareEnd {
  #child
  #sentAt = 0
  #missing = 0
  #first = () => {}
  times = []

  /** @param {string} python */
  constructor(python) {
    this.#child = new Child(python, [BARE], { link: true })
    this.#child.link.on('error', () => {})
    this.#child.link.on('data', (bytes) => this.#onBytes(bytes))
  }

  async open() {
    const first = new Promise((resolve) => {
      this.#first = resolve
    })
    this.send(1)
    await within('a bare Python to echo', first, 10_000)
    this.times = []
  }

  send(index) {
    const sound = encodeAudioIn(0, new Int16Array(FRAME_SAMPLES))
    const bytes = index % PLAYBACK_FRAMES === 0 ? Buffer.concat([encodePlayback(0, 0, 0), sound]) : sound
    this.#sentAt = performance.now()
    this.#missing += bytes.length
    this.#child.link.write(bytes)
  }

  async stop() {
    this.#child.link.destroy()
    await this.#child.stop()
  }

  #onBytes(bytes) {
    this.#missing -= bytes.length
    if (this.#missing > 0) return
    this.times.push(performance.now() - this.#sentAt)
    this.#first()
  }
}
