import { FRAME_KIND, HEADER_BYTES, type LinkFrame, MAX_PAYLOAD_BYTES } from './frame.ts'

/** The peer did not speak the link protocol. */
export class LinkProtocolError extends Error {
  override readonly name = 'LinkProtocolError'
}

/** Cuts a byte stream into frames. Throws {@link LinkProtocolError} once the stream makes no sense. */
export class LinkDecoder {
  #pending = new Uint8Array()
  readonly #json = new TextDecoder('utf-8', { fatal: true })
  /** A message is passed on as it is, also with a mark at its beginning. */
  readonly #text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  /** Takes the next bytes and gives the frames that are complete now. */
  push(chunk: Uint8Array): LinkFrame[] {
    const bytes = this.#pending.length === 0 ? plainBytes(chunk) : joined(this.#pending, chunk)
    const frames: LinkFrame[] = []
    let offset = 0
    while (bytes.length - offset >= HEADER_BYTES) {
      const view = new DataView(bytes.buffer, bytes.byteOffset + offset)
      const length = view.getUint32(1)
      if (length > MAX_PAYLOAD_BYTES) {
        throw new LinkProtocolError(`a frame announces ${length} bytes; ${MAX_PAYLOAD_BYTES} are allowed`)
      }
      const end = offset + HEADER_BYTES + length
      if (bytes.length < end) break
      frames.push(this.#decode(view.getUint8(0), bytes.subarray(offset + HEADER_BYTES, end)))
      offset = end
    }
    // A copy, so that a small rest does not keep a large chunk alive.
    this.#pending = bytes.slice(offset)
    return frames
  }

  #decode(kind: number, payload: Uint8Array): LinkFrame {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
    switch (kind) {
      case FRAME_KIND.control:
        return { kind: 'control', message: this.#parseJson(payload) }
      case FRAME_KIND.audioIn:
        return { kind: 'audioIn', capturedAt: taggedAudio(view), samples: samplesOf(payload) }
      case FRAME_KIND.audioOut:
        return { kind: 'audioOut', epoch: taggedAudio(view), samples: samplesOf(payload) }
      case FRAME_KIND.playback:
        expectLength(view, 12, 'a playback frame')
        return {
          kind: 'playback',
          epoch: view.getUint32(0),
          played: view.getUint32(4),
          limit: view.getUint32(8),
        }
      case FRAME_KIND.heard:
        expectLength(view, 4, 'a heard frame')
        return { kind: 'heard', frames: view.getUint32(0) }
      case FRAME_KIND.socketText:
        return { kind: 'socket', data: this.#decodeText(payload) }
      case FRAME_KIND.socketBinary:
        return { kind: 'socket', data: payload.slice() }
      default:
        throw new LinkProtocolError(`${kind} is not a kind of frame`)
    }
  }

  #decodeText(payload: Uint8Array): string {
    try {
      return this.#text.decode(payload)
    } catch (cause) {
      throw new LinkProtocolError('a text message of a socket is not UTF-8', { cause })
    }
  }

  #parseJson(payload: Uint8Array): unknown {
    try {
      return JSON.parse(this.#json.decode(payload))
    } catch (cause) {
      throw new LinkProtocolError('a control frame does not hold JSON', { cause })
    }
  }
}

function taggedAudio(view: DataView): number {
  if (view.byteLength < 4 || view.byteLength % 2 !== 0) {
    throw new LinkProtocolError(`an audio frame has ${view.byteLength} bytes; 4 and whole samples are needed`)
  }
  return view.getUint32(0)
}

/** Copies, because the payload sits at any offset of a chunk that somebody else owns. */
function samplesOf(payload: Uint8Array): Int16Array {
  return new Int16Array(payload.slice(4).buffer)
}

/** Node's buffers are byte arrays whose `slice` does not copy; here it has to. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function expectLength(view: DataView, length: number, what: string): void {
  if (view.byteLength !== length) {
    throw new LinkProtocolError(`${what} has ${view.byteLength} bytes instead of ${length}`)
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
