import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/**
 * The protobuf framing of the published WebSocket transport: one frame a binary message. It is written here
 * by field number because the schema is five small messages and the audio path should not pay for reflection.
 */
export type ClientFrame =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'audio'
      readonly audio: Uint8Array
      readonly sampleRate: number
      readonly channels: number
    }
  | {
      readonly kind: 'transcription'
      readonly text: string
      readonly userId: string
      readonly timestamp: string
    }
  | { readonly kind: 'message'; readonly data: string }
  | { readonly kind: 'interruption' }

const FIELD = { text: 1, audio: 2, transcription: 3, message: 4, interruption: 5 } as const

/** Encodes one frame. */
export function encodeClientFrame(frame: ClientFrame): Uint8Array {
  const writer = new BinaryWriter()
  writer.tag(FIELD[frame.kind], WireType.LengthDelimited).fork()
  switch (frame.kind) {
    case 'text':
      writer.tag(3, WireType.LengthDelimited).string(frame.text)
      break
    case 'audio':
      writer.tag(2, WireType.LengthDelimited).string('audio')
      writer.tag(3, WireType.LengthDelimited).bytes(frame.audio)
      writer.tag(4, WireType.Varint).uint32(frame.sampleRate)
      writer.tag(5, WireType.Varint).uint32(frame.channels)
      break
    case 'transcription':
      writer.tag(3, WireType.LengthDelimited).string(frame.text)
      writer.tag(4, WireType.LengthDelimited).string(frame.userId)
      writer.tag(5, WireType.LengthDelimited).string(frame.timestamp)
      break
    case 'message':
      writer.tag(1, WireType.LengthDelimited).string(frame.data)
      break
    case 'interruption':
      break
  }
  return writer.join().finish()
}

/** Decodes one frame, or gives `undefined` for bytes that are none. */
export function decodeClientFrame(bytes: Uint8Array): ClientFrame | undefined {
  try {
    // Not Node's subclass, whose `slice` does not copy.
    const reader = new BinaryReader(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    let frame: ClientFrame | undefined
    while (reader.pos < reader.len) {
      const [field, wire] = reader.tag()
      if (wire !== WireType.LengthDelimited) reader.skip(wire, field)
      else frame = decodeBody(field, reader.bytes()) ?? frame
    }
    return frame
  } catch {
    return undefined
  }
}

function decodeBody(field: number, bytes: Uint8Array): ClientFrame | undefined {
  switch (field) {
    case FIELD.text:
      return { kind: 'text', text: readFields(bytes).strings.get(3) ?? '' }
    case FIELD.audio: {
      const { blobs, numbers } = readFields(bytes)
      return {
        kind: 'audio',
        audio: blobs.get(3) ?? new Uint8Array(),
        sampleRate: numbers.get(4) ?? 0,
        channels: numbers.get(5) ?? 0,
      }
    }
    case FIELD.transcription: {
      const { strings } = readFields(bytes)
      return {
        kind: 'transcription',
        text: strings.get(3) ?? '',
        userId: strings.get(4) ?? '',
        timestamp: strings.get(5) ?? '',
      }
    }
    case FIELD.message:
      return { kind: 'message', data: readFields(bytes).strings.get(1) ?? '' }
    case FIELD.interruption:
      return { kind: 'interruption' }
    default:
      return undefined
  }
}

interface Fields {
  readonly blobs: ReadonlyMap<number, Uint8Array>
  readonly strings: { get(field: number): string | undefined }
  readonly numbers: ReadonlyMap<number, number>
}

function readFields(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes)
  const blobs = new Map<number, Uint8Array>()
  const numbers = new Map<number, number>()
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag()
    if (wire === WireType.LengthDelimited) blobs.set(field, reader.bytes())
    else if (wire === WireType.Varint) numbers.set(field, Number(reader.uint64()))
    else reader.skip(wire, field)
  }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const strings = {
    get: (field: number) => {
      const blob = blobs.get(field)
      return blob && decoder.decode(blob)
    },
  }
  return { blobs, strings, numbers }
}
