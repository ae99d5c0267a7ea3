import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { CloudClient } from './cloud-client.ts'
import { followAgentLog } from './follow-agent-log.ts'

const PLACE = 'id: 7-aaaaaaaa\nretry: 1000\n\n'
const END = 'event: end\ndata: {"reason":"agent_removed"}\n\n'

it('comes back to the place that the stream has told, also when nothing had come', async () => {
  const places: unknown[] = []
  const server = createServer((request, response) => {
    places.push(request.headers['last-event-id'])
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(places.length === 1 ? PLACE : `${PLACE}${END}`)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { signal } = new AbortController()
  const client = new CloudClient({ url: `http://127.0.0.1:${port}`, key: 'sk_12345678' })
  const kinds = []
  for await (const { type } of followAgentLog(client, 'echo', {}, { signal, wait: async () => {} }))
    kinds.push(type)
  expect(kinds).toEqual(['lost', 'resumed', 'removed'])
  expect(places).toEqual([undefined, '7-aaaaaaaa'])
})
