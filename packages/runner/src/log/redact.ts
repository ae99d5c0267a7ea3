/** Takes out of a log what must not be in it. */
export interface Redactor {
  /** Cleans text, and cuts it when it is very long. */
  text(text: string): string
  /** Cleans a value under its field name; the result is plain JSON of bounded size. */
  value(name: string, value: unknown): unknown
}

const HIDDEN = '[redacted]'
const MAX_TEXT = 16 * 1024
const MAX_DEPTH = 5
const MAX_ENTRIES = 100
const MAX_SECRETS = 500
const MIN_SECRET_LENGTH = 8

const SECRET_VARIABLE = /KEY|TOKEN|SECRET|PASSWORD/i
const SECRET_FIELD =
  /(?:token|authorization|apikey|accesskey|secretkey|privatekey|secret|password|passwd|cookie|credential|credentials|icepwd)$/
const PHONE_FIELD =
  /^(?:from|to|caller|callee|callerid|phone|number|.*phone|.*phonenumber|.*fromnumber|.*tonumber)$/

/** The values of an environment that must never be seen, known by the names of their variables. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = new Set<string>()
  for (const [name, value] of Object.entries(env)) {
    if (value && value.length >= MIN_SECRET_LENGTH && SECRET_VARIABLE.test(name)) values.add(value)
  }
  return [...values]
}

/** Makes a redactor that also knows these values, wherever they occur. */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const known = knownSecrets(secrets)
  const text = (input: string): string => {
    const cut = input.length > MAX_TEXT ? `${input.slice(0, MAX_TEXT)}… (${input.length} characters)` : input
    return hidePatterns(known ? cut.replace(known, HIDDEN) : cut)
  }
  return { text, value: (name, value) => cleanValue(text, name, value, 0) }
}

/** Secrets as they are, and as they look inside JSON and inside a URL. The longest is tried first. */
function knownSecrets(secrets: readonly string[]): RegExp | undefined {
  const forms = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .slice(0, MAX_SECRETS)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  if (forms.length === 0) return undefined
  const escaped = [...new Set(forms)]
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(escaped.join('|'), 'g')
}

// Repetitions are bounded or cannot overlap, so hostile text costs linear time.
const RAW_SDP = /v=0\r?\no=[^\r\n]*(?:\r?\n[a-z]=[^\r\n]*)*(?:\r?\n)?/g
const ESCAPED_SDP = /v=0(?:\\r)?\\no=(?:[^"\\]|\\.)*/g
const ICE_PASSWORD = /(ice-pwd:)[^\s"\\]+/g
const BEARER = /\b(Bearer|Basic)\s{1,4}[\w.~+/=-]{12,}/gi
const JWT = /\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g
const PREFIXED_KEY = /\b(sk|pk|rk|xox[abp]|gh[opsu]|hf)([-_])[\w-]{12,}/g
const ASSIGNED =
  /(?<![\w-])([\w-]{0,40}(?:token|api[_-]?key|secret|password|signature))=(?!\[redacted\])[^&\s"']+/gi
const JSON_SECRET =
  /("[\w.-]{0,40}(?:token|authorization|api[_-]?key|secret|password|cookie)"\s{0,8}:\s{0,8}")(?:[^"\\]|\\.)*/gi
const NESTED_JSON_SECRET =
  /(\\"[\w.-]{0,40}(?:token|authorization|api[_-]?key|secret|password|cookie)\\"\s{0,8}:\s{0,8}\\")(?:[^"\\]|\\(?!"))*/gi
const JSON_PHONE =
  /(["'](?:from|to|caller|phone|[\w-]{0,40}number)["']\s{0,8}:\s{0,8}["'])(\d{8,15})(?=["'])/gi
const PHONE = /(?<![\w.])(?:\+|%2B)\d(?:[ ().-]{0,2}\d){7,14}(?!\d)/g

function hidePatterns(text: string): string {
  return text
    .replace(RAW_SDP, sdpSize)
    .replace(ESCAPED_SDP, sdpSize)
    .replace(ICE_PASSWORD, `$1${HIDDEN}`)
    .replace(JSON_SECRET, `$1${HIDDEN}`)
    .replace(NESTED_JSON_SECRET, `$1${HIDDEN}`)
    .replace(BEARER, `$1 ${HIDDEN}`)
    .replace(JWT, HIDDEN)
    .replace(PREFIXED_KEY, `$1$2${HIDDEN}`)
    .replace(ASSIGNED, `$1=${HIDDEN}`)
    .replace(JSON_PHONE, (_, head: string, digits: string) => `${head}${maskPhone(digits)}`)
    .replace(PHONE, (number) => `+${maskPhone(number.replace(/^%2B/, '').replace(/\D/g, ''))}`)
}

function sdpSize(sdp: string): string {
  return `SDP, ${Buffer.byteLength(sdp)} bytes`
}

function maskPhone(digits: string): string {
  return `${digits.slice(0, 4)}•••${digits.slice(-2)}`
}

function cleanValue(text: (input: string) => string, name: string, value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanString(text, name, value)
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number') {
    return value
  }
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object') return `[${typeof value}]`
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (value instanceof Error)
    return { name: value.name, message: text(value.message), stack: text(value.stack ?? '') }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  if (value instanceof URL) return text(value.href)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) {
    return value.slice(0, MAX_ENTRIES).map((item) => cleanValue(text, name, item, depth + 1))
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_ENTRIES)
      .map(([key, item]) => [text(key), cleanValue(text, key, item, depth + 1)]),
  )
}

function cleanString(text: (input: string) => string, name: string, value: string): string {
  const field = name.toLowerCase().replace(/[^a-z]/g, '')
  if (SECRET_FIELD.test(field)) return value === '' ? '' : HIDDEN
  if (field === 'sdp') return sdpSize(value)
  const digits = value.replace(/[ ().+-]/g, '')
  if (PHONE_FIELD.test(field) && /^\d{8,15}$/.test(digits)) {
    return `${value.startsWith('+') ? '+' : ''}${maskPhone(digits)}`
  }
  return text(value)
}
