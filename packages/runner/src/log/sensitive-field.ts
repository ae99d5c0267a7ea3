/** What stands in a log for something that must not be in it. */
export const HIDDEN = '[redacted]'

const SECRET =
  /(?:token|authorization|apikey|accesskey|secretkey|privatekey|secret|password|passwd|cookie|credential|credentials|signature|icepwd|iceufrag)$/
const PHONE =
  /(?:phone|phonenumber|fromnumber|tonumber|callernumber|callednumber|mobile|mobilenumber|cellphone|callerid|msisdn)$/
/** These hold phone numbers in what carriers send, and all kinds of things elsewhere. */
const MAYBE_PHONE = /^(?:from|to|caller|callee|called|number|tel|cell|ani|dnis|waid)$/
const PHONE_TEXT = /^\+?[\d ().-]+$/
const DATE = /^\d{4}-\d{2}-\d{2}/
/** Seconds or milliseconds since 1970, from 2017 to 2033. No phone number looks so with its country code. */
const TIMESTAMP = /^1[5-9](?:\d{8}|\d{11})$/

/** What to show of a field instead of its value; nothing when its name does not say that it is sensitive. */
export function maskField(name: string, value: string | number): string | undefined {
  const field = name.toLowerCase().replace(/[^a-z]/g, '')
  if (SECRET.test(field)) return value === '' ? '' : HIDDEN
  if (field === 'sdp' && typeof value === 'string') return SDP_SIZE.test(value) ? value : sdpSize(value)
  if (PHONE.test(field)) return maskPhoneText(String(value), 7)
  if (!MAYBE_PHONE.test(field) || TIMESTAMP.test(String(value))) return undefined
  return maskPhoneText(String(value), typeof value === 'number' ? 10 : 8)
}

/** The digits of a phone number, as many of them as tell one from another. */
export function maskPhone(digits: string): string {
  return `${digits.slice(0, Math.min(4, digits.length - 6))}•••${digits.slice(-2)}`
}

const SDP_SIZE = /^SDP, \d+ bytes$/

/** What a log says of an SDP. */
export function sdpSize(sdp: string): string {
  return `SDP, ${Buffer.byteLength(sdp)} bytes`
}

function maskPhoneText(value: string, fewest: number): string | undefined {
  const text = value.trim()
  if (!PHONE_TEXT.test(text) || DATE.test(text)) return undefined
  const digits = text.replace(/\D/g, '')
  if (digits.length < fewest || digits.length > 18) return undefined
  return `${text.startsWith('+') ? '+' : ''}${maskPhone(digits)}`
}
