import nodeDatachannel from 'node-datachannel'
import { OpusDecoder } from '../../packages/media/dist/webrtc/opus.js'
import { buildRtp, isRtcp, parseRtp } from '../../packages/media/dist/webrtc/rtp.js'
import { until, within } from '../wait.mjs'

const { Audio, PeerConnection } = nodeDatachannel
const PAYLOAD_TYPE = 111
const FRAME_MS = 20
const CONNECT_LIMIT_MS = 20_000
/** Mean level of 16-bit samples from which a packet counts as voice; ours is at some thousands. */
const VOICED_LEVEL = 300

/** A caller without a browser: offers as the published clients do, speaks without pause, counts what comes back. */
export class Caller {
  #url
  #voice
  #native
  #track
  #channel
  #decoder
  #ssrc = Math.floor(Math.random() * 0xffffffff)
  #timer
  #nextAt = 0
  #sequence = 0
  #candidates = []
  #heard = () => {}
  #closed = false
  /** Packets of voice that came back. */
  voiced = 0
  sent = 0
  /** When the offer was sent, in nanoseconds of the machine's clock. */
  offeredAt = 0n

  /**
   * @param {string} url of the server
   * @param {readonly Uint8Array[]} voice packets to send
   */
  constructor(url, voice) {
    this.#url = url
    this.#voice = voice
    this.#native = new PeerConnection('caller', { iceServers: [], disableAutoNegotiation: true })
    const audio = new Audio('0', 'SendRecv')
    audio.addOpusCodec(PAYLOAD_TYPE, 'minptime=10;useinbandfec=1')
    audio.addSSRC(this.#ssrc, 'caller', 'caller', 'caller-audio')
    this.#native.onLocalCandidate((candidate) => this.#candidates.push(candidate))
    this.#track = this.#native.addTrack(audio)
    // An exception in a native callback would end the process.
    this.#track.onMessage((bytes) => this.#guard(() => this.#onMedia(bytes)))
    this.#track.onOpen(() => this.#guard(() => this.#speak()))
    this.#channel = this.#native.createDataChannel('chat')
  }

  /**
   * Calls, and waits for the first voice that comes back.
   * @returns {Promise<number>} milliseconds from the offer to that packet
   */
  async connect() {
    this.#decoder = await OpusDecoder.create(16_000)
    const heard = new Promise((resolve) => {
      this.#heard = resolve
    })
    const offer = await this.#offer()
    this.offeredAt = process.hrtime.bigint()
    const begin = performance.now()
    const answer = await this.#request('POST', { sdp: offer, type: 'offer' })
    this.#accept(answer.sdp)
    this.#sendCandidates(answer.pc_id)
    return (await within(`sound from ${this.#url}`, heard, CONNECT_LIMIT_MS)) - begin
  }

  close() {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#timer)
    this.#channel.close()
    this.#native.close()
    this.#decoder?.close()
  }

  /** Without candidates: they follow once the answer is in, as the published clients do it. */
  async #offer() {
    this.#native.setLocalDescription('offer')
    await until('addresses of this machine', () => this.#native.gatheringState() === 'complete')
    return this.#native.localDescription().sdp.replace(/a=(?:candidate:.*|end-of-candidates)\r\n/g, '')
  }

  /** The library wants the fingerprint before the first candidate. */
  #accept(answer) {
    const lines = answer.split('\r\n')
    const isCandidate = (line) => line.startsWith('a=candidate:')
    this.#native.setRemoteDescription(lines.filter((line) => !isCandidate(line)).join('\r\n'), 'answer')
    for (const line of lines.filter(isCandidate)) this.#native.addRemoteCandidate(line.slice(2), '0')
  }

  /** The call goes on without them when the server has found the way by itself. */
  #sendCandidates(pcId) {
    const candidates = this.#candidates.map((candidate) => ({
      candidate: candidate.replace(/^a=/, ''),
      sdp_mid: '0',
      sdp_mline_index: 0,
    }))
    this.#request('PATCH', { pc_id: pcId, candidates }).catch(() => {})
  }

  async #request(method, body) {
    const response = await fetch(`${this.#url}/api/offer`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CONNECT_LIMIT_MS),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} /api/offer was answered ${response.status}: ${text}`)
    return JSON.parse(text)
  }

  /** Sends what is due and sleeps until the next packet is; a late timer makes up for itself. */
  #speak() {
    if (this.#closed) return
    const now = performance.now()
    if (this.#nextAt === 0) this.#nextAt = now
    while (this.#nextAt <= now) {
      this.#send()
      this.#nextAt += FRAME_MS
    }
    this.#timer = setTimeout(() => this.#guard(() => this.#speak()), this.#nextAt - now)
  }

  #send() {
    const packet = buildRtp({
      payloadType: PAYLOAD_TYPE,
      marker: false,
      sequence: this.#sequence & 0xffff,
      timestamp: (this.#sequence * 960) >>> 0,
      ssrc: this.#ssrc,
      payload: this.#voice[this.#sequence % this.#voice.length],
    })
    this.#sequence += 1
    this.sent += 1
    if (this.#track.isOpen()) this.#track.sendMessageBinary(packet)
  }

  #onMedia(bytes) {
    if (this.#closed || isRtcp(bytes)) return
    const packet = parseRtp(bytes)
    if (packet === undefined || packet.payload.length === 0) return
    const samples = this.#decoder.decode(packet.payload)
    if (level(samples) < VOICED_LEVEL) return
    this.voiced += 1
    this.#heard(performance.now())
  }

  #guard(act) {
    try {
      act()
    } catch (error) {
      process.stderr.write(`caller: ${error}\n`)
    }
  }
}

/** @param {Int16Array} samples */
function level(samples) {
  let energy = 0
  for (const sample of samples) energy += sample * sample
  return Math.sqrt(energy / samples.length)
}
