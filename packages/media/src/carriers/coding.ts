/** The codecs that are spoken here. */
export type CarrierCodecName = 'pcmu' | 'pcma' | 'l16'

/** How sound is written. */
export interface AudioCoding {
  readonly codec: CarrierCodecName
  readonly rate: number
  /** Whether linear samples have their high byte first, as they have in RTP. */
  readonly bigEndian?: boolean
}

/** A codec by another of its names: what remains of it without its kind and its parameters. */
const NAMES: Readonly<Record<string, CarrierCodecName>> = {
  pcmu: 'pcmu',
  mulaw: 'pcmu',
  ulaw: 'pcmu',
  pcma: 'pcma',
  alaw: 'pcma',
  l16: 'l16',
  raw: 'l16',
  'raw/slin': 'l16',
  slin: 'l16',
  linear16: 'l16',
  pcm: 'l16',
  // How carrier D is known to call its raw samples, after the way in which they travel.
  base64: 'l16',
}

/** What a carrier says about its sound. */
export interface MediaFormat {
  readonly encoding: string
  readonly rate: number
  readonly channels?: number | undefined
}

/** The coding that a carrier names, or why it cannot be served. */
export function codingOf({ encoding, rate, channels = 1 }: MediaFormat): AudioCoding | string {
  const name = encoding
    .toLowerCase()
    .replace(/;.*$/, '')
    .replace(/^audio\//, '')
    .replace(/^x-/, '')
  const codec = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined
  if (codec === undefined) {
    return `The call's sound is coded as ${encoding}, which is not understood here; set the stream to PCMU, PCMA or L16.`
  }
  if (channels !== 1) return `The call's sound has ${channels} channels; set the stream to one.`
  if (rate < 8000 || rate > 48_000 || rate % 50 !== 0) {
    return `The call's sound has a rate of ${rate} Hz; set the stream to 8000 or 16000.`
  }
  return { codec, rate }
}
