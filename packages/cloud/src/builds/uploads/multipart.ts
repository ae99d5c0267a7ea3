import { Readable } from 'node:stream'
import { CloudError } from '../../errors.ts'

const MAX_FIELDS = 20
const MAX_FIELD_BYTES = 8 * 1024
const MAX_HEAD_BYTES = 8 * 1024
const CRLF = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')

/** A form as S3 takes it: fields first, the file last. */
export interface UploadForm {
  readonly fields: ReadonlyMap<string, string>
  /** The bytes of the file as they come in. What follows it is not read. */
  readonly file: Readable
}

/** Reads the fields of a `multipart/form-data` body up to its file. */
export async function readUploadForm(
  body: AsyncIterable<Buffer>,
  contentType: string | undefined,
): Promise<UploadForm> {
  const [, quoted, bare] =
    /^multipart\/form-data;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? '') ??
    []
  const boundary = quoted ?? bare
  if (boundary === undefined) throw invalid('the body must be multipart/form-data with a boundary')
  const form = new FormReader(body, boundary)
  const fields = new Map<string, string>()
  await form.start()
  while (fields.size <= MAX_FIELDS) {
    const name = await form.nextPart()
    if (name === undefined) throw invalid('the form has no field named file')
    if (name === 'file') return { fields, file: Readable.from(form.content()) }
    fields.set(name, await form.field())
  }
  throw invalid(`the form has more than ${MAX_FIELDS} fields before its file`)
}

class FormReader {
  readonly #chunks: AsyncIterator<Buffer>
  readonly #delimiter: Buffer
  #buffer: Buffer = Buffer.alloc(0)

  constructor(body: AsyncIterable<Buffer>, boundary: string) {
    this.#chunks = body[Symbol.asyncIterator]()
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  /** Finds the first boundary, which has no line end before it. */
  async start(): Promise<void> {
    this.#buffer = CRLF
    await this.#upTo(this.#delimiter, MAX_HEAD_BYTES)
  }

  /** The name of the next part; nothing at the end of the form. */
  async nextPart(): Promise<string | undefined> {
    while (this.#buffer.length < 2) if (!(await this.#more())) throw tooShort()
    if (this.#buffer.subarray(0, 2).toString() === '--') return undefined
    const head = (await this.#upTo(HEAD_END, MAX_HEAD_BYTES)).toString('utf8')
    const disposition =
      /^\r\ncontent-disposition:[^\r]*|\r\ncontent-disposition:[^\r]*/i.exec(head)?.[0] ?? ''
    const [, quoted, bare] = /;\s*name=(?:"([^"]*)"|([^\s;"]+))/i.exec(disposition) ?? []
    const name = quoted ?? bare
    if (name === undefined) throw invalid('a part of the form has no name')
    return name
  }

  async field(): Promise<string> {
    return (await this.#upTo(this.#delimiter, MAX_FIELD_BYTES)).toString('utf8')
  }

  /** The bytes of this part, to its end. */
  async *content(): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#buffer.indexOf(this.#delimiter)
      if (at >= 0) {
        if (at > 0) yield this.#buffer.subarray(0, at)
        return
      }
      // The end may have begun; the rest is content for certain.
      const certain = this.#buffer.length - this.#delimiter.length + 1
      if (certain > 0) {
        yield this.#buffer.subarray(0, certain)
        this.#buffer = this.#buffer.subarray(certain)
      }
      if (!(await this.#more())) throw tooShort()
    }
  }

  async #upTo(mark: Buffer, limit: number): Promise<Buffer> {
    for (;;) {
      const at = this.#buffer.indexOf(mark)
      if (at > limit || (at < 0 && this.#buffer.length > limit + mark.length)) {
        throw invalid(`a part of the form before its file is larger than ${limit} bytes`)
      }
      if (at >= 0) {
        const found = this.#buffer.subarray(0, at)
        this.#buffer = this.#buffer.subarray(at + mark.length)
        return found
      }
      if (!(await this.#more())) throw tooShort()
    }
  }

  async #more(): Promise<boolean> {
    let next: IteratorResult<Buffer>
    try {
      next = await this.#chunks.next()
    } catch (cause) {
      throw invalid('the connection was cut before its end', { cause })
    }
    if (next.done) return false
    this.#buffer = this.#buffer.length === 0 ? next.value : Buffer.concat([this.#buffer, next.value])
    return true
  }
}

function tooShort(): CloudError {
  return invalid('the form ends too early')
}

function invalid(why: string, options: ErrorOptions = {}): CloudError {
  return new CloudError('INVALID_REQUEST', `The upload is not valid: ${why}.`, options)
}
