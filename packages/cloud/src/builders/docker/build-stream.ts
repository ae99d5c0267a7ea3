import { StringDecoder } from 'node:string_decoder'
import * as z from 'zod'
import { BuildkitTrace } from './buildkit-trace.ts'

/** What the engine says while it builds. */
export type BuildEvent =
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'image'; readonly id: string }
  | { readonly kind: 'error'; readonly message: string; readonly status: number | undefined }

const message = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  id: z.string().optional(),
  progress: z.string().optional(),
  error: z.string().optional(),
  errorDetail: z.object({ code: z.number().optional(), message: z.string().optional() }).optional(),
  aux: z
    .union([z.object({ ID: z.string() }), z.string()])
    .optional()
    .catch(undefined),
})

const MAX_LINE = 4 * 1024 * 1024

/** Reads the engine's stream of JSON objects, however it is cut. */
export class BuildStream {
  readonly #decoder = new StringDecoder('utf8')
  readonly #trace = new BuildkitTrace()
  #partial = ''

  /** Takes bytes; gives what they complete. */
  write(bytes: Uint8Array): readonly BuildEvent[] {
    const lines =
      `${this.#partial}${this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))}`.split(
        '\n',
      )
    this.#partial = lines.pop() ?? ''
    // No engine writes objects of this size; what does is not one.
    if (this.#partial.length > MAX_LINE) lines.push(this.#takePartial())
    return lines.flatMap((line) => this.#eventsOf(line))
  }

  /** Gives the rest. */
  end(): readonly BuildEvent[] {
    return this.#eventsOf(this.#takePartial())
  }

  #eventsOf(line: string): readonly BuildEvent[] {
    if (line.trim() === '') return []
    const read = parse(line)
    // Not an object as we know it: better shown than lost.
    if (read === undefined) return [{ kind: 'output', text: `${line.trim()}\n` }]
    const { stream, status, id, progress, error, errorDetail, aux } = read
    const events: BuildEvent[] = []
    if (stream !== undefined) events.push({ kind: 'output', text: stream })
    // Bars of a download are not for a log.
    if (status !== undefined && progress === undefined)
      events.push({ kind: 'output', text: id === undefined ? `${status}\n` : `${id}: ${status}\n` })
    if (typeof aux === 'string') events.push({ kind: 'output', text: this.#trace.read(aux) })
    else if (aux !== undefined) events.push({ kind: 'image', id: aux.ID })
    const text = errorDetail?.message ?? error
    if (text !== undefined)
      events.push({ kind: 'error', message: text, status: statusOf(text) ?? errorDetail?.code })
    return events
  }

  #takePartial(): string {
    const text = this.#partial
    this.#partial = ''
    return text
  }
}

function parse(line: string): z.infer<typeof message> | undefined {
  try {
    return message.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}

/** The status of the command that failed, where one did. */
function statusOf(text: string): number | undefined {
  const found = /(?:returned a non-zero code:|exit status|exit code:) (\d+)/.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}
