import { connect } from 'node:net'

/**
 * Asks for the same things over and over on some connections, as cheaply as can be: of the answers only the length is looked at.
 * @param {readonly string[]} urls of one server
 * @param {{ key: string, connections: number, count: number }} options
 */
export async function getMany(urls, { key, connections, count }) {
  const requests = urls.map((url) => requestFor(url, { key, accept: 'application/json' }))
  let asked = 0
  const next = () => (asked < count ? requests[asked++ % requests.length] : undefined)
  await Promise.all(Array.from({ length: connections }, () => getOnOneConnection(urls[0], next)))
}

/**
 * @param {string} url
 * @param {() => string | undefined} nextRequest
 */
function getOnOneConnection(url, nextRequest) {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let head = ''
    let missing = 0
    const next = () => {
      head = ''
      missing = -1
      const request = nextRequest()
      if (request === undefined) socket.end()
      else socket.write(request)
    }
    socket.on('connect', next)
    socket.on('close', resolve)
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      if (missing > 0) {
        missing -= chunk.length
      } else {
        head += chunk.toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        if (!head.startsWith('HTTP/1.1 200')) return reject(new Error(head.slice(0, 300)))
        missing = Number(/content-length: (\d+)/i.exec(head)[1]) - (head.length - end - 4)
      }
      if (missing === 0) next()
    })
  })
}

/**
 * Follows a log by its events, and calls back with each piece of text.
 * @param {string} url
 * @param {string} key
 * @param {(text: string) => void} onText
 * @returns {{ opened: Promise<void>, ended: Promise<void> }}
 */
export function follow(url, key, onText) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.setEncoding('latin1')
  socket.write(requestFor(url, { key, accept: 'text/event-stream', connection: 'close' }))
  const opened = new Promise((resolve, reject) => {
    socket.once('data', (head) => {
      if (head.startsWith('HTTP/1.1 200')) resolve()
      else reject(new Error(head.slice(0, 300)))
    })
    socket.once('error', reject)
  })
  const ended = new Promise((resolve) => socket.once('close', () => resolve()))
  socket.on('data', onText)
  return { opened, ended }
}

/**
 * @param {string} url
 * @param {{ key: string } & Record<string, string>} headers
 */
function requestFor(url, { key, ...headers }) {
  const { host, pathname, search } = new URL(url)
  const all = { host, authorization: `Bearer ${key}`, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`
}
