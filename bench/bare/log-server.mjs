// The least that can answer a request for a log: files given by name, sent from memory. Prints its address.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const bodies = process.argv.slice(2).map((path) => readFileSync(path))
const server = createServer((request, response) => {
  if (request.url === '/cpu') {
    const { user, system } = process.cpuUsage()
    response.end(JSON.stringify({ us: user + system, rss: process.memoryUsage().rss }))
    return
  }
  const body = bodies[Number(request.url.slice(1))]
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`)
})
process.on('SIGTERM', () => process.exit(0))
