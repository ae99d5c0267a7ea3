const PCM = 1
/** The real format of such a file is named further behind. */
const EXTENSIBLE = 0xfffe
const HEADER_BYTES = 44
const FORMATS: Readonly<Record<number, string>> = {
  2: 'ADPCM',
  3: 'floating point',
  6: 'A-law',
  7: 'µ-law',
  85: 'MP3',
}

/** A file that is no WAV, or one of a kind that is not read here. The message says what to do. */
export class WavError extends Error {
  override readonly name = 'WavError'
  readonly code = 'wav_unreadable'
}

/** The sound of a WAV file, one list of samples a channel. */
export interface Wav {
  readonly rate: number
  readonly channels: readonly Int16Array[]
}

interface Format {
  readonly rate: number
  readonly channels: number
}

/** Reads a WAV file with 16-bit PCM samples. One that was cut short gives what it has. */
export function decodeWav(bytes: Uint8Array): Wav {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 12 || tagAt(view, 0) !== 'RIFF' || tagAt(view, 8) !== 'WAVE') {
    throw new WavError('This is not a WAV file.')
  }
  let format: Format | undefined
  for (let at = 12; at + 8 <= bytes.length; ) {
    const tag = tagAt(view, at)
    const start = at + 8
    const length = Math.min(view.getUint32(at + 4, true), bytes.length - start)
    if (tag === 'fmt ') format = formatOf(new DataView(bytes.buffer, bytes.byteOffset + start, length))
    if (tag === 'data') {
      if (format === undefined) throw new WavError('This WAV file does not say how its sound is written.')
      return { rate: format.rate, channels: split(view, start, length, format.channels) }
    }
    // A chunk of odd length is followed by a byte that belongs to none.
    at = start + length + (length % 2)
  }
  throw new WavError('This WAV file has no sound in it.')
}

/** Writes a WAV file with 16-bit PCM samples. Shorter channels end in silence. */
export function encodeWav({ rate, channels }: Wav): Uint8Array {
  const length = Math.max(0, ...channels.map((channel) => channel.length))
  const frameBytes = channels.length * 2
  const bytes = new Uint8Array(HEADER_BYTES + length * frameBytes)
  const view = new DataView(bytes.buffer)
  writeTag(bytes, 0, 'RIFF')
  view.setUint32(4, bytes.length - 8, true)
  writeTag(bytes, 8, 'WAVE')
  writeTag(bytes, 12, 'fmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, PCM, true)
  view.setUint16(22, channels.length, true)
  view.setUint32(24, rate, true)
  view.setUint32(28, rate * frameBytes, true)
  view.setUint16(32, frameBytes, true)
  view.setUint16(34, 16, true)
  writeTag(bytes, 36, 'data')
  view.setUint32(40, length * frameBytes, true)
  channels.forEach((channel, index) => {
    channel.forEach((sample, place) => {
      view.setInt16(HEADER_BYTES + place * frameBytes + index * 2, sample, true)
    })
  })
  return bytes
}

/** All channels as one. */
export function mixDown({ channels }: Wav): Int16Array {
  const [first = new Int16Array()] = channels
  if (channels.length <= 1) return first
  return first.map((_, at) => {
    return channels.reduce((sum, channel) => sum + (channel[at] ?? 0), 0) / channels.length
  })
}

function formatOf(view: DataView): Format {
  if (view.byteLength < 16) throw new WavError('This WAV file does not say how its sound is written.')
  const named = view.getUint16(0, true)
  const kind = named === EXTENSIBLE && view.byteLength >= 26 ? view.getUint16(24, true) : named
  const channels = view.getUint16(2, true)
  const rate = view.getUint32(4, true)
  const bits = view.getUint16(14, true)
  const advice = 'Convert it to 16-bit PCM, for example with: ffmpeg -i IN.wav -c:a pcm_s16le OUT.wav'
  if (kind !== PCM) {
    throw new WavError(`This WAV file is written as ${FORMATS[kind] ?? `format ${kind}`}. ${advice}`)
  }
  if (bits !== 16) throw new WavError(`This WAV file has samples of ${bits} bits. ${advice}`)
  if (channels !== 1 && channels !== 2) {
    throw new WavError(`This WAV file has ${channels} channels; one or two can be read.`)
  }
  return { rate, channels }
}

function split(view: DataView, start: number, length: number, channels: number): readonly Int16Array[] {
  const frames = Math.floor(length / (channels * 2))
  return Array.from({ length: channels }, (_, channel) =>
    Int16Array.from({ length: frames }, (_, at) =>
      view.getInt16(start + (at * channels + channel) * 2, true),
    ),
  )
}

function tagAt(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)))
}

function writeTag(bytes: Uint8Array, at: number, tag: string): void {
  for (let index = 0; index < tag.length; index += 1) bytes[at + index] = tag.charCodeAt(index)
}
