import { connect } from 'node:net'

/** Statuses whose answers end with their headers. */
const BODILESS = new Set([101, 204, 304])

/** An answer as it came over the socket. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Sends bytes that no HTTP library would send, and reads one answer. Nothing is given when the server closes without
 * one. The connection is closed afterwards, whatever it has become.
 */
export function rawRequest(url: string, bytes: string | Uint8Array): Promise<RawAnswer | undefined> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const timer = setTimeout(() => {
      socket.destroy()
      reject(
        new Error(`no answer to ${JSON.stringify(Buffer.from(bytes).toString('latin1').slice(0, 2000))}`),
      )
    }, 10_000)
    const isHead = Buffer.from(bytes).toString('latin1').startsWith('HEAD ')
    let text = ''
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(parse(text))
    }
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (isComplete(text, isHead)) finish()
    })
    socket.on('error', () => {})
    socket.on('close', finish)
    socket.write(bytes)
  })
}

function isComplete(text: string, isHead: boolean): boolean {
  const answer = parse(text)
  if (answer === undefined) return false
  if (isHead || BODILESS.has(answer.status)) return true
  const length = answer.headers['content-length']
  if (length !== undefined) return answer.body.length >= Number(length)
  return answer.headers['transfer-encoding'] === 'chunked' && text.endsWith('0\r\n\r\n')
}

function parse(text: string): RawAnswer | undefined {
  const end = text.indexOf('\r\n\r\n')
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
  if (end < 0 || status === undefined) return undefined
  const lines = text.slice(0, end).split('\r\n').slice(1)
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  return { status: Number(status), headers, body: text.slice(end + 4) }
}
