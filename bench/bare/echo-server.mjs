// The least that can echo a WebRTC call: the library alone, in one process. Prints its address.
// With --codec, sound is decoded and encoded again, as a bot needs it; without, packets go back as they are.
import { createServer } from 'node:http'
import nodeDatachannel from 'node-datachannel'
import { OpusDecoder, OpusEncoder } from '../../packages/media/dist/webrtc/opus.js'
import { buildRtp, isRtcp, parseRtp } from '../../packages/media/dist/webrtc/rtp.js'
import { recordCall } from './record.mjs'

const { Audio, PeerConnection } = nodeDatachannel
const PAYLOAD_TYPE = 111
const RATE = 16_000
const codec = process.argv.includes('--codec')
/** @type {Map<string, object>} Held here, or the collector would end the calls. */
const peers = new Map()
let made = 0

async function answer(offer) {
  const id = `peer-${made++}`
  const ssrc = made
  const native = new PeerConnection(id, { iceServers: [], disableAutoNegotiation: true })
  const audio = new Audio('0', 'SendRecv')
  audio.addOpusCodec(PAYLOAD_TYPE, 'minptime=10;useinbandfec=1')
  audio.addSSRC(ssrc, 'echo', 'echo', 'echo-audio')
  const gathered = new Promise((resolve) => {
    native.onGatheringStateChange((state) => state === 'complete' && resolve())
  })
  const track = native.addTrack(audio)
  const echo = codec ? await codecEcho(ssrc) : { packet: (bytes) => passOn(bytes, ssrc), close: () => {} }
  native.onStateChange((state) => {
    if (!['closed', 'failed', 'disconnected'].includes(state) || !peers.delete(id)) return
    echo.close()
    native.close()
  })
  track.onMessage((bytes) => {
    try {
      if (isRtcp(bytes) || !track.isOpen()) return
      const packet = echo.packet(bytes)
      if (packet !== undefined) track.sendMessageBinary(packet)
    } catch (error) {
      process.stderr.write(`${error}\n`)
    }
  })
  peers.set(id, { native, track })
  native.setRemoteDescription(offer.sdp, 'offer')
  native.setLocalDescription('answer')
  recordCall()
  await gathered
  return { sdp: native.localDescription().sdp, type: 'answer', pc_id: id }
}

function passOn(bytes, ssrc) {
  const copy = Buffer.from(bytes)
  copy.writeUInt32BE(ssrc, 8)
  return copy
}

async function codecEcho(ssrc) {
  const decoder = await OpusDecoder.create(RATE)
  const encoder = new OpusEncoder(RATE)
  let sequence = 0
  const packet = (bytes) => {
    const incoming = parseRtp(bytes)
    if (incoming === undefined) return undefined
    const payload = encoder.encode(decoder.decode(incoming.payload))
    const timestamp = (sequence * 960) >>> 0
    const header = { payloadType: PAYLOAD_TYPE, marker: false, sequence: sequence & 0xffff, timestamp, ssrc }
    sequence += 1
    return buildRtp({ ...header, payload })
  }
  return { packet, close: () => decoder.close() }
}

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const reply = request.method === 'POST' ? await answer(JSON.parse(Buffer.concat(chunks).toString())) : {}
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(reply))
})
server.listen(0, 'localhost', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://localhost:${server.address().port}` })}\n`)
})
process.on('SIGTERM', () => process.exit(0))
