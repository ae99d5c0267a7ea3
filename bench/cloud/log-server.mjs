// The route of the build logs on a bare server, with what a benchmark needs to fill logs and to tell its CPU time. Prints its address.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { LogRoute } from '../../packages/cloud/dist/logs/log-route.js'
import { SegmentLogStore } from '../../packages/cloud/dist/logs/segment-log-store.js'
import { lineOf } from './line.mjs'

const [folder] = process.argv.slice(2)
const logs = new SegmentLogStore(folder, { maxBytes: 8 * 1024 ** 3 })
const route = new LogRoute(logs)

const COMMANDS = {
  /** Appends lines in batches, as fast as it can. */
  async fill({ lines, batch }) {
    const id = randomUUID()
    const writer = await logs.openWriter(id)
    const batches = Array.from({ length: 100 }, (_, index) =>
      Array.from({ length: batch }, (_, line) => lineOf(index * batch + line)),
    )
    const begin = performance.now()
    for (let done = 0, index = 0; done < lines; done += batch, index += 1) {
      writer.append(batches[index % batches.length])
      if (index % 50 === 0) await turn()
    }
    await writer.flush()
    const seconds = (performance.now() - begin) / 1000
    await writer.close()
    return { id, seconds }
  },

  /** Appends a line every few milliseconds that tells when it was appended. */
  async tick({ id, count, everyMs }) {
    const writer = await logs.openWriter(id)
    for (let index = 0; index < count; index += 1) {
      await sleep(everyMs)
      writer.append([`at ${process.hrtime.bigint()} `])
    }
    await writer.seal()
    return {}
  },

  async cpu() {
    const { user, system } = process.cpuUsage()
    return { us: user + system, rss: process.memoryUsage().rss }
  },
}

const server = createServer((request, response) => {
  const id = /^\/v1\/builds\/([^/]+)\/logs/.exec(request.url)?.[1]
  if (id === undefined) obey(request, response)
  else route.serve(request, response, { buildId: id, status: () => 'success' })
})

async function obey(request, response) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const answer = await COMMANDS[request.url.slice(1)](JSON.parse(Buffer.concat(chunks).toString() || '{}'))
  response.end(JSON.stringify(answer))
}

server.requestTimeout = 0
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`)
})
process.on('SIGTERM', () => process.exit(0))
