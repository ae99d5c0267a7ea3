/** The kinds of frame on the link, by their first byte. */
export const FRAME_KIND = {
  control: 1,
  audioIn: 2,
  audioOut: 3,
  playback: 4,
  heard: 5,
  socketText: 6,
  socketBinary: 7,
} as const

/** One message of a WebSocket: text, or bytes. */
export type SocketMessage = string | Uint8Array

/** One frame, parsed as far as it can be without a schema. Audio is signed 16-bit little-endian mono. */
export type LinkFrame =
  | { readonly kind: 'control'; readonly message: unknown }
  | { readonly kind: 'audioIn'; readonly capturedAt: number; readonly samples: Int16Array }
  | { readonly kind: 'audioOut'; readonly epoch: number; readonly samples: Int16Array }
  /** How much of the epoch was played, and how much of it the guest may send in all. Both count samples. */
  | { readonly kind: 'playback'; readonly epoch: number; readonly played: number; readonly limit: number }
  /** How many audio frames, or messages of the caller's socket, were taken in since the start. */
  | { readonly kind: 'heard'; readonly frames: number }
  /** A message of the caller's WebSocket that is passed through, to or fro. */
  | { readonly kind: 'socket'; readonly data: SocketMessage }

/** Bytes before a frame's payload: the kind, and the payload's length. */
export const HEADER_BYTES = 5
/** A peer that announces a longer payload is broken or hostile. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024
/** The longest piece of sound that a guest may send in one frame. */
export const MAX_AUDIO_OUT_MS = 100
/** The longest message of a bot, as JSON in UTF-8: what every wire carries, with room for what a wire puts around it. */
export const MAX_MESSAGE_BYTES = 255 * 1024

const encoder = new TextEncoder()

/** Encodes a control message. */
export function encodeControl(message: unknown): Uint8Array {
  const payload = encoder.encode(JSON.stringify(message))
  const bytes = allocate(FRAME_KIND.control, payload.length)
  bytes.set(payload, HEADER_BYTES)
  return bytes
}

/** Encodes sound on its way to the guest. */
export function encodeAudioIn(capturedAt: number, samples: Int16Array): Uint8Array {
  return encodeAudio(FRAME_KIND.audioIn, capturedAt, samples)
}

/** Encodes sound on its way to the caller. */
export function encodeAudioOut(epoch: number, samples: Int16Array): Uint8Array {
  return encodeAudio(FRAME_KIND.audioOut, epoch, samples)
}

/** Encodes the playback position and the guest's credit. */
export function encodePlayback(epoch: number, played: number, limit: number): Uint8Array {
  const bytes = allocate(FRAME_KIND.playback, 12)
  const view = new DataView(bytes.buffer)
  view.setUint32(HEADER_BYTES, epoch)
  view.setUint32(HEADER_BYTES + 4, played)
  view.setUint32(HEADER_BYTES + 8, limit)
  return bytes
}

/** Encodes how many audio frames or socket messages were taken in. */
export function encodeHeard(frames: number): Uint8Array {
  const bytes = allocate(FRAME_KIND.heard, 4)
  new DataView(bytes.buffer).setUint32(HEADER_BYTES, frames)
  return bytes
}

/** Encodes a message of the caller's WebSocket. */
export function encodeSocket(data: SocketMessage): Uint8Array {
  const isText = typeof data === 'string'
  const payload = isText ? encoder.encode(data) : data
  const bytes = allocate(isText ? FRAME_KIND.socketText : FRAME_KIND.socketBinary, payload.length)
  bytes.set(payload, HEADER_BYTES)
  return bytes
}

function encodeAudio(kind: number, tag: number, samples: Int16Array): Uint8Array {
  const bytes = allocate(kind, 4 + samples.byteLength)
  new DataView(bytes.buffer).setUint32(HEADER_BYTES, tag >>> 0)
  // Every machine that Node runs on is little-endian, as the link is.
  bytes.set(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength), HEADER_BYTES + 4)
  return bytes
}

function allocate(kind: number, length: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + length)
  bytes[0] = kind
  new DataView(bytes.buffer).setUint32(1, length)
  return bytes
}
