const END = Buffer.from('\r\n\r\n')
const MAX_BYTES = 64 * 1024

/** What the first line and the headers of an answer say. */
export interface AnswerHead {
  readonly isUpgrade: boolean
  /** The size of all of it, with its body; nothing if only the end of the connection tells. */
  readonly size: number | undefined
}

/** Collects the bytes of an answer until its head is whole. */
export class AnswerHeadReader {
  #bytes: Buffer = Buffer.alloc(0)

  /** Everything that was collected. */
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
    const [, length] = /\r\ncontent-length:[ \t]*(\d{1,12})[ \t]*(?:\r|$)/i.exec(text) ?? []
    const size = length === undefined ? undefined : end + END.length + Number(length)
    return { isUpgrade: status === '101', size }
  }
}
