// The least that can answer the requests of the other benchmarks: POST /start and WebSocket calls. Prints its address.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'
import { recordCall } from './record.mjs'

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  JSON.parse(Buffer.concat(chunks).toString())
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ sessionId: randomUUID() }))
})
new WebSocketServer({ server, path: '/ws-client' }).on('connection', recordCall)
server.listen(0, 'localhost', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://localhost:${server.address().port}` })}\n`)
})
process.on('SIGTERM', () => process.exit(0))
