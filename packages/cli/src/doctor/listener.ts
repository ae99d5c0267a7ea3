import { get } from 'node:http'
import { limitSignal } from '../limited-signal.ts'

const LIMIT_MS = 2000
const MAX_TEXT = 64 * 1024

/** Whether a port of this machine is taken, and what is said there. */
export interface Listener {
  readonly taken: boolean
  /** The JSON that was answered, if it was some. */
  readonly said?: unknown
}

/** Asks who listens on a port, by a request that changes nothing. It never rejects. */
export function whoListens(port: number, path: string, signal: AbortSignal): Promise<Listener> {
  const limited = limitSignal(signal, LIMIT_MS)
  return new Promise<Listener>((resolve) => {
    const request = get({ host: 'localhost', port, path, agent: false, signal: limited.signal }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
        if (text.length > MAX_TEXT) request.destroy()
      })
      answer.on('error', () => resolve({ taken: true }))
      answer.on('close', () => resolve({ taken: true, ...parse(text) }))
    })
    request.on('error', (error: NodeJS.ErrnoException) =>
      // Whatever else it is: somebody took the connection, or nobody can be told from here to be there.
      resolve({ taken: error.code !== 'ECONNREFUSED' }),
    )
  }).finally(() => limited.close())
}

function parse(text: string): { said?: unknown } {
  try {
    return { said: JSON.parse(text) }
  } catch {
    return {}
  }
}
