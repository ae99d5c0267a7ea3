import { replaceJsonValues } from './json-text.ts'
import { HIDDEN, maskField, maskPhone, sdpSize } from './sensitive-field.ts'

/** JSON in a string in JSON, and so on, is looked into so deep. */
const MAX_NESTING = 4

// Repetitions are bounded or cannot overlap, so hostile text costs linear time.
const RAW_SDP = /v=0\r?\no=[^\r\n]*(?:\r?\n[a-z]=[^\r\n]*)*(?:\r?\n)?/g
const ESCAPED_SDP = /v=0(?:\\r|\\u000d)?(?:\\n|\\u000a)o=(?:[^"\\]|\\.)*/gi
const SDP_SECRET = /(ice-ufrag:|ice-pwd:|a=crypto:|fingerprint:(?=sha-))(?!\[redacted\])[^\r\n"\\]+/g
const SDP_CANDIDATE = /(candidate:)[\w+/]+ \d+ (?:udp|tcp) [^\r\n"\\]*/gi
const SDP_ADDRESS = /([co]=(?:[\w-]+ \d+ \d+ )?IN IP[46] )[\w.:/]+/g
const BEARER = /\b(Bearer|Basic)\s{1,4}[\w.~+/=-]{12,}/gi
const JWT = /\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g
const PREFIXED_KEY = /\b(sk|pk|rk|xox[abp]|gh[opsu]|hf)([-_])[\w-]{12,}/g
const ASSIGNED =
  /(?<![\w%.[\]-])([\w%.[\]-]+)=(?!\[redacted\])((?:[\d().+-][\d ().+-]{6,30}(?=&|$))|[^&\s"']+)/g
const JSON_SECRET =
  /("[\w.-]{0,40}(?:token|authorization|api[_-]?key|secret|password|cookie)"\s{0,8}:\s{0,8}")(?:[^"\\]|\\.)*/gi
const NESTED_JSON_SECRET =
  /(\\"[\w.-]{0,40}(?:token|authorization|api[_-]?key|secret|password|cookie)\\"\s{0,8}:\s{0,8}\\")(?:[^"\\]|\\(?!"))*/gi
/** As Python spells a dictionary, and the fields of an object. */
const PYTHON_FIELD =
  /('([\w.-]{1,60})'\s{0,8}:\s{0,8}|(?<![\w%.[\]-])([\w-]{1,60})=)(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")/g
const QUOTED_PHONE =
  /((["'])(?:from|to|caller|phone|mobile|[\w-]{0,40}number)\2\s{0,8}:\s{0,8}\2)([\d ().+-]{8,30})(?=["'])/gi
const PHONE = /(?<![\w.])(?:\+|%2B)\d(?:[ ().-]{0,2}\d){7,14}(?!\d)/gi
/** As it is written in North America; nothing else has these groups. */
const NATIONAL_PHONE = /(?<![\w.-])(?:1[ -])?(?:\([2-9]\d\d\) ?|[2-9]\d\d-)[2-9]\d\d-\d{4}(?![\w-])/g

/** Takes out of text what gives itself away by its form, or by the name it goes under. */
export function hideSensitive(text: string, nesting = 0): string {
  const cleaned = replaceJsonValues(text, (name, value) => {
    const masked = maskField(name, value)
    if (masked !== undefined || typeof value === 'number' || nesting === MAX_NESTING) return masked
    const inner = hideSensitive(value, nesting + 1)
    return inner === value ? undefined : inner
  })
  return hidePatterns(cleaned)
}

function hidePatterns(text: string): string {
  return text
    .replace(RAW_SDP, sdpSize)
    .replace(ESCAPED_SDP, sdpSize)
    .replace(SDP_SECRET, `$1${HIDDEN}`)
    .replace(SDP_CANDIDATE, `$1${HIDDEN}`)
    .replace(SDP_ADDRESS, `$1${HIDDEN}`)
    .replace(JSON_SECRET, `$1${HIDDEN}`)
    .replace(NESTED_JSON_SECRET, `$1${HIDDEN}`)
    .replace(BEARER, `$1 ${HIDDEN}`)
    .replace(JWT, HIDDEN)
    .replace(PREFIXED_KEY, `$1$2${HIDDEN}`)
    .replace(ASSIGNED, (all, name: string, value: string) => {
      const masked = maskField(percentDecoded(name), percentDecoded(value.replaceAll('+', ' ')))
      return masked === undefined ? all : `${name}=${masked}`
    })
    .replace(PYTHON_FIELD, (all, head: string, key = '', field = '', single?: string, double?: string) => {
      const masked = maskField(key || field, single ?? double ?? '')
      const quote = single === undefined ? '"' : "'"
      return masked === undefined ? all : `${head}${quote}${masked}${quote}`
    })
    .replace(QUOTED_PHONE, (all, head: string, _, value: string) => {
      const masked = maskField('phone', value)
      return masked === undefined ? all : `${head}${masked}`
    })
    .replace(PHONE, (number) => `+${maskPhone(number.replace(/^%2B/i, '').replace(/\D/g, ''))}`)
    .replace(NATIONAL_PHONE, (number) => maskPhone(number.replace(/\D/g, '')))
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
