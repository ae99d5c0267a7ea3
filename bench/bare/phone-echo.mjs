// The least that can echo a phone call: a WebSocket server in one process. Prints its address.
// With --codec, sound is decoded to samples and encoded again, as a bot needs it; without, messages go back unread.
import { WebSocketServer } from 'ws'
import { decodeUlaw, encodeUlaw } from '../../packages/audio/dist/index.js'

const codec = process.argv.includes('--codec')
const server = new WebSocketServer({ port: 0, host: 'localhost', path: '/ws', perMessageDeflate: false })

server.on('connection', (websocket) => {
  websocket.on('error', () => {})
  websocket.on('message', (data) => {
    const answer = codec ? coded(data) : data
    if (answer !== undefined) websocket.send(answer, { binary: false })
  })
})

/** @param {Buffer} data */
function coded(data) {
  const { event, streamSid, media } = JSON.parse(data)
  if (event !== 'media') return undefined
  const samples = decodeUlaw(Buffer.from(media.payload, 'base64'))
  const { buffer, byteOffset, byteLength } = encodeUlaw(samples)
  const payload = Buffer.from(buffer, byteOffset, byteLength).toString('base64')
  return JSON.stringify({ event, streamSid, media: { payload } })
}

server.on('listening', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://localhost:${server.address().port}` })}\n`)
})
process.on('SIGTERM', () => process.exit(0))
