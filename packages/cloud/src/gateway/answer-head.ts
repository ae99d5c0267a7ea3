import { isOfTheAddress } from './forwarded-headers.ts'

const END = Buffer.from('\r\n\r\n')
const MAX_BYTES = 64 * 1024
/** A line that goes on in the next one, or ends as no line should: whoever reads it next may see other headers than we do. */
const AMBIGUOUS = /^[ \t]|[\r\n]/

/** What the first line and the headers of an answer say. */
export interface AnswerHead {
  readonly isUpgrade: boolean
  /** The size of all of it, with its body; nothing if only the end of the connection tells. */
  readonly size: number | undefined
}

/** Collects the bytes of an answer until its head is whole, and takes out of that what an instance may not say. */
export class AnswerHeadReader {
  #bytes: Buffer = Buffer.alloc(0)

  /** Everything that was collected, as the caller may see it. */
  get bytes(): Buffer {
    return this.#bytes
  }

  /** Takes more bytes. Gives the head once it is whole, and `invalid` if it can be none. */
  take(chunk: Buffer): AnswerHead | 'invalid' | undefined {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    const end = this.#bytes.indexOf(END)
    if (end < 0) return this.#bytes.length > MAX_BYTES ? 'invalid' : undefined
    const text = this.#bytes.toString('latin1', 0, end)
    const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |\r|$)/.exec(text) ?? []
    if (status === undefined) return 'invalid'
    const lines = text.split('\r\n')
    if (lines.some((line) => AMBIGUOUS.test(line))) return 'invalid'
    const kept = lines.filter((line) => !isOfTheAddress(line.split(':', 1)[0]?.trim() ?? '')).join('\r\n')
    this.#bytes = Buffer.concat([Buffer.from(kept, 'latin1'), this.#bytes.subarray(end)])
    const [, length] = /\r\ncontent-length:[ \t]*(\d{1,12})[ \t]*(?:\r|$)/i.exec(kept) ?? []
    const size = length === undefined ? undefined : kept.length + END.length + Number(length)
    return { isUpgrade: status === '101', size }
  }
}
