import { Agent, request } from 'node:http'
import { quantile } from '../stats.mjs'

/**
 * Posts the same body over and over on some connections that stay open.
 * @param {{ url: string, body: unknown, connections: number, count: number, limitMs: number }} options
 */
export async function postMany({ url, body, connections, count, limitMs }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const payload = JSON.stringify(body)
  const times = []
  let failures = 0
  let left = count
  const begin = performance.now()
  const worker = async () => {
    while (left > 0 && performance.now() - begin < limitMs) {
      left -= 1
      const sentAt = performance.now()
      const status = await post(agent, url, payload)
      if (status === 200) times.push(performance.now() - sentAt)
      else failures += 1
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - begin) / 1000
  agent.destroy()
  return { perSecond: times.length / seconds, p99: quantile(times, 0.99), count: times.length, failures }
}

function post(agent, url, payload) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
    outgoing.on('error', reject)
    outgoing.end(payload)
  })
}
