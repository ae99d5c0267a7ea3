import { connect } from 'node:net'

/**
 * Asks for the same thing over and over on some connections, as cheaply as can be: of the answers only the length is looked at.
 * @param {string} url
 * @param {{ connections: number, count: number }} options
 */
export async function getMany(url, { connections, count }) {
  let left = count
  await Promise.all(
    Array.from({ length: connections }, () => getOnOneConnection(url, () => left > 0 && left-- > 0)),
  )
}

/**
 * @param {string} url
 * @param {() => boolean} another whether another request is wanted
 */
function getOnOneConnection(url, another) {
  const { hostname, port, pathname, search } = new URL(url)
  const request = `GET ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept: application/json\r\n\r\n`
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let head = ''
    let missing = 0
    const next = () => {
      head = ''
      missing = -1
      if (another()) socket.write(request)
      else socket.end()
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
 * @param {(text: string) => void} onText
 * @returns {{ opened: Promise<void>, ended: Promise<void> }}
 */
export function follow(url, onText) {
  const { hostname, port, pathname } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.setEncoding('latin1')
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept: text/event-stream\r\nconnection: close\r\n\r\n`,
  )
  const opened = new Promise((resolve, reject) => {
    socket.once('data', () => resolve())
    socket.once('error', reject)
  })
  const ended = new Promise((resolve) => socket.once('close', () => resolve()))
  socket.on('data', onText)
  return { opened, ended }
}
