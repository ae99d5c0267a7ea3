import { createHmac, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { CLOCK_TOLERANCE_MS, isSame, type WebhookRequest } from '../providers/webhook-request.ts'

/** The SubjectPublicKeyInfo of an Ed25519 key, up to the 32 bytes of the key. */
const ED25519_HEAD = Buffer.from('302a300506032b6570032100', 'hex')
const ED25519_BYTES = 32

/** Provider A: the address and the sorted form fields, HMAC-SHA1 with the account's token. */
export function isSignedByA(request: WebhookRequest, authToken: string): boolean {
  const given = request.header('x-twilio-signature') ?? ''
  const fields = sortedFields(formOf(request)).map(([name, values]) =>
    [...new Set(values)].map((value) => `${name}${value}`).join(''),
  )
  return spellings(request.url).some((url) => {
    const text = `${url}${fields.join('')}`
    return isSame(given, createHmac('sha1', authToken).update(text).digest('base64'))
  })
}

/** Provider B: the time and the body, Ed25519 with the provider's own key. */
export function isSignedByB(request: WebhookRequest, publicKey: KeyObject, now: number): boolean {
  const time = request.header('telnyx-timestamp') ?? ''
  const signature = Buffer.from(request.header('telnyx-signature-ed25519') ?? '', 'base64')
  if (!/^\d{1,12}$/.test(time) || Math.abs(Number(time) * 1000 - now) > CLOCK_TOLERANCE_MS) return false
  return verify(null, Buffer.concat([Buffer.from(`${time}|`), request.body]), publicKey, signature)
}

/** Provider C: the address with its query sorted, the sorted form fields and a nonce, HMAC-SHA256. */
export function isSignedByC(request: WebhookRequest, authToken: string): boolean {
  const nonce = request.header('x-plivo-signature-v3-nonce') ?? ''
  const given = (request.header('x-plivo-signature-v3') ?? '').split(',').map((text) => text.trim())
  if (nonce === '') return false
  const fields = sortedFields(formOf(request))
    .flatMap(([name, values]) => values.map((value) => `${name}${value}`))
    .join('')
  return spellings(request.url).some((url) => {
    const [address = '', query = ''] = url.split('?', 2)
    const pairs = sortedFields(new URLSearchParams(query))
      .flatMap(([name, values]) => values.map((value) => `${name}=${value}`))
      .join('&')
    const mark = pairs === '' && fields === '' ? '' : '?'
    const dot = pairs === '' || fields === '' ? '' : '.'
    const text = `${address}${mark}${pairs}${dot}${fields}.${nonce}`
    const expected = createHmac('sha256', authToken).update(text).digest('base64')
    return given.some((signature) => isSame(signature, expected))
  })
}

/** Reads a raw Ed25519 key in base64, as provider B shows it. Undefined when it is none. */
export function ed25519Key(base64: string): KeyObject | undefined {
  const raw = Buffer.from(base64, 'base64')
  if (raw.length !== ED25519_BYTES) return undefined
  try {
    return createPublicKey({ key: Buffer.concat([ED25519_HEAD, raw]), format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}

/** The fields of a form body. */
export function formOf({ body }: WebhookRequest): URLSearchParams {
  return new URLSearchParams(body.toString('utf8'))
}

/** Names in the order of their bytes, each with its sorted values. */
function sortedFields(fields: URLSearchParams): readonly (readonly [string, readonly string[]])[] {
  const names = [...new Set(fields.keys())].sort()
  return names.map((name) => [name, fields.getAll(name).sort()])
}

/** Providers sign what their user typed: the same address with or without its default port and its last slash. */
function spellings(url: string): readonly string[] {
  const [, head = '', port = '', rest = ''] =
    /^(\w+:\/\/[^/?:]+|\w+:\/\/\[[^\]]*\])(:\d+)?(.*)$/s.exec(url) ?? []
  if (head === '') return [url]
  const ports = [port, port === '' ? ':443' : '']
  const paths = rest === '/' || rest.startsWith('/?') ? [rest, rest.slice(1)] : [rest]
  return ports.flatMap((text) => paths.map((path) => `${head}${text}${path}`))
}
