// The least that can answer a request for a log: bodies from memory, by the address that is asked for. Prints its address.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

/** @type {[address: string, file: string][]} */
const bodies = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const answers = new Map(
  bodies.map(([address, file]) => {
    const body = readFileSync(file)
    return [address, { body, etag: `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"` }]
  }),
)
const server = createServer((request, response) => {
  const { body, etag } = answers.get(request.url)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length, etag })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`)
})
process.on('SIGTERM', () => process.exit(0))
