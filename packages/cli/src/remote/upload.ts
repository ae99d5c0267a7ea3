import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { RemoteError, reasonOf } from './remote-error.ts'

const IDLE_MS = 60_000
const MAX_ANSWER = 64 * 1024

/** What is uploaded to where. */
export interface Upload {
  readonly url: string
  readonly fields: Readonly<Record<string, string>>
  readonly file: { readonly path: string; readonly bytes: number }
  readonly signal: AbortSignal
  /** Hears how many bytes of the file are on their way. */
  onProgress(bytes: number): void
}

/** Sends a file as a form, as object stores take it: fields first, the file last, and its length known. */
export async function upload({ url, fields, file, signal, onProgress }: Upload): Promise<void> {
  const boundary = `botcli-${randomUUID()}`
  const head = Buffer.from(
    `${Object.entries(fields)
      .map(
        ([name, value]) =>
          `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
      )
      .join(
        '',
      )}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="context.tar.gz"\r\nContent-Type: application/gzip\r\n\r\n`,
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const place = new URL(url)
  const send = place.protocol === 'https:' ? httpsRequest : httpRequest
  const request = send(place, {
    method: 'POST',
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + file.bytes + tail.length,
    },
    timeout: IDLE_MS,
    signal,
  })
  request.on('timeout', () => request.destroy(new Error(`nothing moved for ${IDLE_MS / 1000} seconds`)))
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
  })
  const parts = async function* () {
    yield head
    let sent = 0
    for await (const chunk of createReadStream(file.path)) {
      yield chunk as Buffer
      sent += chunk.length
      onProgress(sent)
    }
    yield tail
  }
  // A place that refuses may answer before it has read everything; that answer is what counts.
  const sent = pipeline(parts, request).catch(() => {})
  try {
    const response = await answered
    const text = await textOf(response)
    const status = response.statusCode ?? 0
    if (status >= 300) request.destroy()
    await sent
    if (status >= 200 && status < 300) return
    const why = messageIn(text).replace(/[^.!?]$/, '$&.')
    throw new RemoteError('UPLOAD_REFUSED', `The upload was refused (${status}): ${why}`, { status })
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof RemoteError) throw error
    throw RemoteError.local('CONNECTION_LOST', `The upload broke off (${reasonOf(error)}).`, { cause: error })
  } finally {
    request.destroy()
    await sent
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const part of response) {
    text += part
    if (text.length > MAX_ANSWER) break
  }
  return text
}

/** The message of an error of ours, or of an object store. */
function messageIn(text: string): string {
  const [, xml] = /<Message>([^<]*)<\/Message>/.exec(text) ?? []
  if (xml !== undefined) return xml
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && 'error' in value) return String(value.error)
  } catch {
    // Then it is text.
  }
  return text.trim().slice(0, 300) || 'no reason was given'
}

function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
