import { LinkDecoder, LinkProtocolError } from './decoder.ts'
import {
  encodeAudioIn,
  encodeAudioOut,
  encodeControl,
  encodeHeard,
  encodePlayback,
  encodeSocket,
  HEADER_BYTES,
  type LinkFrame,
  MAX_PAYLOAD_BYTES,
  type SocketMessage,
} from './frame.ts'
import { type GuestMessage, guestMessageSchema, type HostMessage, hostMessageSchema } from './messages.ts'

/** The part of a Node duplex stream that the link needs, named here so that this package needs no Node. */
export interface LinkStream {
  write(bytes: Uint8Array): boolean
  end(): unknown
  destroy(): unknown
  pause(): unknown
  resume(): unknown
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'close' | 'end' | 'drain', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: string, listener: (...args: never[]) => void): unknown
  readonly writableLength: number
}

/** A frame that is not a control message. */
export type DataFrame = Exclude<LinkFrame, { kind: 'control' }>

/** What arrives at one end of a link. */
export interface LinkHandlers<Incoming> {
  message(message: Incoming): void
  frame(frame: DataFrame): void
  /** Called once. An error means that the peer or the stream broke; none means that the peer closed it. */
  closed(error?: Error): void
}

/** One end of a link: typed messages out, typed messages in. It owns the stream until it is detached. */
export class LinkPort<Outgoing, Incoming> {
  readonly #stream: LinkStream
  readonly #parse: (message: unknown) => Incoming
  readonly #decoder = new LinkDecoder()
  readonly #handlers: LinkHandlers<Incoming>
  #open = true
  #waiting: Uint8Array | undefined

  constructor(stream: LinkStream, parse: (message: unknown) => Incoming, handlers: LinkHandlers<Incoming>) {
    this.#stream = stream
    this.#parse = parse
    this.#handlers = handlers
    stream.on('data', this.#onData)
    stream.on('close', this.#onClose)
    stream.on('end', this.#onClose)
    stream.on('error', this.#onError)
  }

  /** Bytes that the peer has not taken yet. */
  get backlog(): number {
    return this.#stream.writableLength
  }

  send(message: Outgoing): void {
    this.#write(encodeControl(message))
  }

  /** Sends a message unless it is larger than a frame may be. False when it is. */
  trySend(message: Outgoing): boolean {
    const frame = encodeControl(message)
    if (frame.length > HEADER_BYTES + MAX_PAYLOAD_BYTES) return false
    this.#write(frame)
    return true
  }

  sendAudioIn(capturedAt: number, samples: Int16Array): void {
    this.#write(encodeAudioIn(capturedAt, samples))
  }

  sendAudioOut(epoch: number, samples: Int16Array): void {
    this.#write(encodeAudioOut(epoch, samples))
  }

  sendSocket(data: SocketMessage): void {
    this.#write(encodeSocket(data))
  }

  /** Goes with the next frame, or with `flush`. A later one takes its place. */
  laterPlayback(epoch: number, played: number, limit: number): void {
    this.#waiting = encodePlayback(epoch, played, limit)
  }

  /** Goes with the next frame, or with `flush`. A later one takes its place. */
  laterHeard(frames: number): void {
    this.#waiting = encodeHeard(frames)
  }

  /** Sends what waits for company. */
  flush(): void {
    if (this.#waiting !== undefined) this.#write(new Uint8Array())
  }

  /** Stops reading, so that a peer that says too much has to wait. */
  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    if (this.#open) this.#stream.resume()
  }

  /** Lets go of the stream without closing it, so that another process can take it over. */
  detach(): void {
    this.#open = false
    this.#stream.removeListener('data', this.#onData)
    this.#stream.removeListener('close', this.#onClose)
    this.#stream.removeListener('end', this.#onClose)
    this.#stream.removeListener('error', this.#onError)
  }

  /** Closes the link; what was sent before is still delivered. */
  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#stream.end()
  }

  /** Breaks the link at once. */
  destroy(): void {
    this.#open = false
    this.#stream.destroy()
  }

  #write(bytes: Uint8Array): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (this.#open) this.#stream.write(waiting === undefined ? bytes : joined(waiting, bytes))
  }

  readonly #onData = (chunk: Uint8Array): void => {
    if (!this.#open) return
    try {
      for (const frame of this.#decoder.push(chunk)) {
        if (!this.#open) return
        if (frame.kind === 'control') this.#handlers.message(this.#parse(frame.message))
        else this.#handlers.frame(frame)
      }
    } catch (error) {
      if (error instanceof LinkProtocolError) this.#fail(error)
      else throw error
    }
  }

  readonly #onClose = (): void => {
    if (!this.#open) return
    this.#open = false
    this.#handlers.closed()
    this.#stream.destroy()
  }

  readonly #onError = (error: Error): void => this.#fail(error)

  #fail(error: Error): void {
    if (!this.#open) return
    this.#open = false
    this.#stream.destroy()
    this.#handlers.closed(error)
  }
}

/** The host's end: a media worker, or the runner while the guest is spare. */
export type HostPort = LinkPort<HostMessage, GuestMessage>
/** The guest's end. */
export type GuestPort = LinkPort<GuestMessage, HostMessage>

/** Opens the host's end of a link. */
export function hostPort(stream: LinkStream, handlers: LinkHandlers<GuestMessage>): HostPort {
  return new LinkPort(stream, parser(guestMessageSchema, 'guest'), handlers)
}

/** Opens the guest's end of a link. */
export function guestPort(stream: LinkStream, handlers: LinkHandlers<HostMessage>): GuestPort {
  return new LinkPort(stream, parser(hostMessageSchema, 'host'), handlers)
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: { message: string } }
}

function parser<T>(schema: Schema<T>, peer: string): (message: unknown) => T {
  return (message) => {
    const parsed = schema.safeParse(message)
    if (parsed.success) return parsed.data
    throw new LinkProtocolError(
      `the ${peer} sent a control message that is not known: ${parsed.error.message}`,
    )
  }
}
