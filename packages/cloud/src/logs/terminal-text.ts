const BACKSPACE = 0x08
const TAB = 0x09
const BELL = 0x07
const RETURN = 0x0d
const ESCAPE = 0x1b
/** Characters that need more than to be added to a line: controls of both kinds, but not tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const SPECIAL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/
const BLANK = /^\s*$/
/** Characters that are kept apart as the latest. */
const MAX_LATEST = 1024

/**
 * - `text`: an ordinary character
 * - `escape`: after ESC
 * - `intermediate`: after ESC and a character that announces one more
 * - `control`: inside of `ESC [ …`
 * - `string`: inside of `ESC ] …` and the like, which end with BEL or `ESC \`
 * - `stringEscape`: after ESC inside of one
 */
type State = 'text' | 'escape' | 'intermediate' | 'control' | 'string' | 'stringEscape'

/**
 * What a terminal would show of one line at its end, roughly. Colours and all other escape sequences are taken out. A carriage
 * return, or a sequence that moves to the first column or erases the line, begins the line anew: of all that a progress bar wrote, the last
 * text that is not blank stays. A backspace takes the character before it. Other control characters are dropped, tabs stay.
 */
export class TerminalText {
  #state: State = 'text'
  #parameters = ''
  /** The text, but for its latest characters: so a backspace after each character does not copy all of it. */
  #settled = ''
  #latest = ''
  #bytes = 0
  /** The last text that was not blank, of those that were written over. */
  #before = ''

  /** Whether the last character was part of something other than text; if not, it is text that ended a broken sequence. */
  #consumed = true

  /** How long the text is now, in bytes of UTF-8. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds a part of a line. `grown` is called whenever the text can be at its longest. */
  add(part: string, grown: () => void): void {
    if (this.#state === 'text' && !SPECIAL.test(part)) {
      this.#append(part)
      grown()
      return
    }
    let plain = 0
    for (let at = 0; at < part.length; at += 1) {
      const code = part.charCodeAt(at)
      if (this.#state === 'text' && !isSpecial(code)) continue
      if (this.#state === 'text') {
        this.#append(part.slice(plain, at))
        grown()
      }
      this.#step(code)
      plain = this.#state === 'text' && !this.#consumed ? at : at + 1
    }
    if (this.#state === 'text') this.#append(part.slice(plain))
    grown()
  }

  /** Takes bytes off the start of the text, as many as fit whole characters. */
  cut(bytes: number): string {
    const encoded = Buffer.from(this.#current)
    let end = Math.min(bytes, encoded.length)
    while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1
    const piece = encoded.toString('utf8', 0, end)
    this.#set(encoded.toString('utf8', end))
    return piece
  }

  /** The text of the line that ends here; the next one begins. An unfinished escape sequence ends with it. */
  end(): string {
    const text = BLANK.test(this.#current) && this.#before !== '' ? this.#before : this.#current
    this.#state = 'text'
    this.#before = ''
    this.#set('')
    return text
  }

  #step(code: number): void {
    this.#consumed = true
    if (this.#state === 'text') this.#control(code)
    else if (this.#state === 'escape') this.#escape(code)
    else if (this.#state === 'control') this.#controlSequence(code)
    else if (this.#state === 'intermediate') this.#intermediate(code)
    else this.#string(code)
  }

  #control(code: number): void {
    if (code === ESCAPE) this.#state = 'escape'
    else if (code === RETURN) this.#rewrite()
    else if (code === BACKSPACE) this.#erase()
  }

  #escape(code: number): void {
    this.#state = 'text'
    if (code === 0x5b) {
      this.#state = 'control'
      this.#parameters = ''
    } else if (code === 0x5d || code === 0x50 || code === 0x58 || code === 0x5e || code === 0x5f) {
      this.#state = 'string'
    } else if (code >= 0x20 && code <= 0x2f) {
      this.#state = 'intermediate'
    } else {
      this.#finish(code, code >= 0x30 && code <= 0x7e)
    }
  }

  #controlSequence(code: number): void {
    if (code >= 0x20 && code <= 0x3f) {
      if (this.#parameters.length < 4) this.#parameters += String.fromCharCode(code)
      return
    }
    this.#finish(code, code >= 0x40 && code <= 0x7e)
    const final = String.fromCharCode(code)
    const toStart = final === 'G' && /^[01]?$/.test(this.#parameters)
    const erased = final === 'K' && this.#parameters === '2'
    if (toStart || erased) this.#rewrite()
  }

  #intermediate(code: number): void {
    if (code < 0x20 || code > 0x2f) this.#finish(code, code >= 0x30 && code <= 0x7e)
  }

  #string(code: number): void {
    if (this.#state === 'stringEscape' && code !== 0x5c) this.#escape(code)
    else if (this.#state === 'stringEscape' || code === BELL) this.#state = 'text'
    else if (code === ESCAPE) this.#state = 'stringEscape'
  }

  /** A sequence is over, by its last character or by one that cannot be in it and stands for itself. */
  #finish(code: number, isPart: boolean): void {
    this.#state = 'text'
    if (isPart) return
    if (isSpecial(code)) this.#control(code)
    else this.#consumed = false
  }

  #rewrite(): void {
    if (!BLANK.test(this.#current)) this.#before = this.#current
    this.#set('')
  }

  get #current(): string {
    return this.#settled + this.#latest
  }

  #append(text: string): void {
    if (text === '') return
    if (this.#latest.length > MAX_LATEST) {
      this.#settled += this.#latest
      this.#latest = text
    } else this.#latest += text
    this.#bytes += Buffer.byteLength(text)
  }

  /** Takes the last character away. */
  #erase(): void {
    const text = this.#latest === '' ? this.#settled : this.#latest
    const isPair = /[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(-2))
    const last = text.slice(isPair ? -2 : -1)
    const rest = text.slice(0, text.length - last.length)
    if (this.#latest === '') this.#settled = rest
    else this.#latest = rest
    this.#bytes -= Buffer.byteLength(last)
  }

  #set(text: string): void {
    this.#settled = text
    this.#latest = ''
    this.#bytes = text === '' ? 0 : Buffer.byteLength(text)
  }
}

function isSpecial(code: number): boolean {
  return (code < 0x20 && code !== TAB) || (code >= 0x7f && code <= 0x9f)
}
