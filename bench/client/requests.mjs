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

/**
 * Asks for the same thing over and over, one after the other on one connection that stays open.
 * @param {{ url: string, socketPath?: string, key?: string, count: number }} options a Unix socket instead of the URL's host
 * @returns {Promise<number[]>} how many milliseconds each answer took
 */
export async function getOften({ url, socketPath, key, count }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times = []
  for (let index = 0; index < count; index += 1) {
    const begin = performance.now()
    await send(agent, url, { method: 'GET', socketPath, key })
    times.push(performance.now() - begin)
  }
  agent.destroy()
  return times
}

/**
 * Starts sessions and ends them again, on some connections that stay open.
 * @param {{ start: { url: string, key?: string }, stop: { url: string, key?: string }, connections: number, limitMs: number }}
 * options what is stopped is the URL with the id of the session behind it
 */
export async function startAndStop({ start, stop, connections, limitMs }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const payload = JSON.stringify({ transport: 'websocket' })
  const times = []
  const failures = []
  const begin = performance.now()
  const worker = async () => {
    while (performance.now() - begin < limitMs) {
      const sentAt = performance.now()
      const started = await send(agent, start.url, { method: 'POST', key: start.key, payload })
      times.push(performance.now() - sentAt)
      const stopped =
        started.status === 200
          ? await send(agent, stop.url + JSON.parse(started.body).sessionId, {
              method: 'DELETE',
              key: stop.key,
            })
          : started
      if (stopped.status !== 200) failures.push(`${stopped.status} ${stopped.body}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - begin) / 1000
  agent.destroy()
  return {
    perSecond: (times.length - failures.length) / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    failures: failures.length,
    failure: failures[0],
  }
}

async function post(agent, url, payload) {
  return (await send(agent, url, { method: 'POST', payload })).status
}

/**
 * @param {Agent} agent
 * @param {string} url
 * @param {{ method: string, key?: string, payload?: string, socketPath?: string }} options
 * @returns {Promise<{ status: number, body: string }>}
 */
function send(agent, url, { method, key, payload = '', socketPath }) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
    if (key !== undefined) headers.authorization = `Bearer ${key}`
    const outgoing = request(url, { method, agent, headers, socketPath }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(payload)
  })
}
