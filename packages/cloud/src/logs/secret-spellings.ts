/** Shorter values are too likely to be something else. */
export const MIN_SECRET_CHARACTERS = 6
/** A part of a value in base64 is looked for only when it is this long. */
const MIN_BASE64_CHARACTERS = 6

/**
 * All spellings in which a secret may turn up in a line: as it is, in base64, in a URL, in JSON; and each of its lines. Some come more than
 * once.
 */
export function* secretSpellings(value: string): Iterable<string> {
  const lines = value.split(/\r\n|\r|\n/)
  // Newlines do not count in a search, so that a value that is printed over several lines is found as well.
  for (const text of new Set([lines.join(''), ...lines, ...lines.map((line) => line.trim())])) {
    if (text.length < MIN_SECRET_CHARACTERS) continue
    yield text
    yield* encoded(text)
  }
  // With its newlines in it, the value has other spellings.
  if (lines.length > 1 && value.length >= MIN_SECRET_CHARACTERS) yield* encoded(value)
}

function encoded(text: string): readonly string[] {
  return [...json(text), ...url(text), ...base64(text)]
}

function json(text: string): readonly string[] {
  const escaped = JSON.stringify(text).slice(1, -1)
  const toAscii = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  const ascii = escaped.replace(/[\u007f-\uffff]/g, toAscii)
  // Some escape the slash, and a shell or a log may escape once more.
  return [escaped, ascii, escaped.replaceAll('/', '\\/'), JSON.stringify(escaped).slice(1, -1)]
}

function url(text: string): readonly string[] {
  // A value from a request may hold half of a character, which has no place in a URL.
  const whole = Buffer.from(text).toString()
  const plain = encodeURIComponent(whole)
  const strict = plain.replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const forms = [plain, strict, encodeURI(whole), strict.replaceAll('%20', '+')]
  return [...forms, ...forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase()))]
}

/** In base64 a value looks different after none, one or two other bytes, as in `user:password`. */
function base64(text: string): readonly string[] {
  const bytes = Buffer.from(text)
  const found = [bytes.toString('base64'), bytes.toString('base64url')]
  for (const before of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url')
    // The first characters depend on what stands before, the last one on what comes after.
    const start = [0, 2, 3][before] ?? 0
    const end = Math.floor(((before + bytes.length) * 8) / 6)
    const inner = shifted.slice(start, end)
    if (inner.length < MIN_BASE64_CHARACTERS) continue
    found.push(inner, inner.replaceAll('-', '+').replaceAll('_', '/'))
  }
  return found
}
