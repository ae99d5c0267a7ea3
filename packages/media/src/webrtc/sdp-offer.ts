import { MediaError } from '../errors.ts'
import { usableCandidate } from './candidate.ts'

const MAX_SDP_BYTES = 100_000
const MAX_SECTIONS = 64
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`{|}~-]{1,64}$/
const DIRECTIONS = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const

/** Which way sound flows, as the one who says it sees it. */
export type SdpDirection = (typeof DIRECTIONS)[number]

/** One media section of an offer, as far as an answer has to repeat it. */
export interface OfferSection {
  readonly mid: string
  readonly kind: string
  readonly protocol: string
  /** The first format, and the attribute that explains it. */
  readonly format: string
  readonly rtpmap?: string
  /** Shares the audio's transport. */
  readonly bundled: boolean
  /** Closed by the client: port zero. */
  readonly rejected: boolean
}

/** What an offer says about the one transport that all sections share. */
export interface OfferTransport {
  readonly ufrag: string
  readonly password: string
  readonly fingerprint: string
  readonly setup: string
}

/** An offer that can be answered. */
export interface Offer {
  readonly sections: readonly OfferSection[]
  readonly bundle: boolean
  readonly audio: {
    readonly mid: string
    readonly payloadType: number
    readonly direction: SdpDirection
  }
  /** The data channels' section, when the client wants messages. */
  readonly channel?: { readonly mid: string; readonly port: number; readonly maxMessageSize: number }
  readonly transport: OfferTransport
  /** Usable candidates, spelled anew. */
  readonly candidates: readonly string[]
}

interface RawSection {
  readonly media: readonly string[]
  readonly attributes: readonly string[]
}

/** Reads an offer. Everything that it does not fully understand is left out; what it needs must be there. */
export function parseOffer(sdp: string): Offer {
  const { session, sections: raw } = split(sdp)
  const sections = raw.map((section) => ({ ...section, mid: midOf(section) }))
  if (new Set(sections.map((section) => section.mid)).size !== sections.length) {
    throw invalid('two media sections have the same mid')
  }
  const audio = sections.find((section) => isOpen(section) && opusOf(section) !== undefined)
  const payloadType = audio && opusOf(audio)
  if (audio === undefined || payloadType === undefined) {
    throw invalid('no audio section offers Opus at 48000 Hz')
  }
  const group = bundleOf(session, audio.mid)
  const bundled = (mid: string) => mid === audio.mid || group.includes(mid)
  const channel = sections.find((section) => isOpen(section) && isChannel(section) && bundled(section.mid))
  return {
    sections: sections.map((section) => ({
      mid: section.mid,
      kind: section.media[0] ?? '',
      protocol: section.media[2] ?? '',
      format: section.media[3] ?? '',
      bundled: bundled(section.mid),
      rejected: !isOpen(section),
      ...rtpmapOf(section),
    })),
    bundle: group.length > 0,
    audio: { mid: audio.mid, payloadType, direction: directionOf([...session, ...audio.attributes]) },
    ...(channel && { channel: { mid: channel.mid, ...channelLimits(channel) } }),
    transport: transportOf(session, audio),
    candidates: sections
      .filter((section) => bundled(section.mid))
      .flatMap((section) => valuesOf(section.attributes, 'candidate'))
      .map((value) => usableCandidate(`candidate:${value}`))
      .filter((candidate) => candidate !== undefined),
  }
}

/** Throws when an offer is plainly of no use, whoever is to answer it: no media in it, or no way to reach its sender. */
export function checkOffer(sdp: string): void {
  const { session, sections } = split(sdp)
  for (const section of sections) midOf(section)
  const media = sections.find((section) => isOpen(section) && ['audio', 'video'].includes(kindOf(section)))
  if (media === undefined) throw invalid('it has no open section for sound or pictures')
  transportOf(session, media)
}

/**
 * The offer as the native library gets it: only the sections that we use, spelled by us. What a client wrote
 * never reaches native code, and sections that we decline need no tracks there.
 */
export function nativeOffer(offer: Offer): string {
  const { audio, channel, transport } = offer
  const shared = [
    'c=IN IP4 0.0.0.0',
    `a=ice-ufrag:${transport.ufrag}`,
    `a=ice-pwd:${transport.password}`,
    'a=ice-options:trickle',
    `a=fingerprint:${transport.fingerprint}`,
    `a=setup:${transport.setup}`,
  ]
  const lines = [
    'v=0',
    'o=- 1 2 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    `a=group:BUNDLE ${audio.mid}${channel ? ` ${channel.mid}` : ''}`,
    `m=audio 9 UDP/TLS/RTP/SAVPF ${audio.payloadType}`,
    ...shared,
    `a=mid:${audio.mid}`,
    `a=${audio.direction}`,
    'a=rtcp-mux',
    `a=rtpmap:${audio.payloadType} opus/48000/2`,
  ]
  if (channel !== undefined) {
    lines.push(
      'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
      ...shared,
      `a=mid:${channel.mid}`,
      `a=sctp-port:${channel.port}`,
      `a=max-message-size:${channel.maxMessageSize}`,
    )
  }
  return `${lines.join('\r\n')}\r\n`
}

function split(sdp: string): { session: string[]; sections: RawSection[] } {
  if (sdp.trim() === '') throw invalid('it is empty')
  if (sdp.length > MAX_SDP_BYTES) throw invalid(`it is longer than ${MAX_SDP_BYTES} characters`)
  const lines = sdp.split(/\r\n|\n|\r/)
  if (lines[0] !== 'v=0') throw invalid('it does not begin with v=0')
  const session: string[] = []
  const sections: { media: string[]; attributes: string[] }[] = []
  for (const line of lines) {
    if (line.startsWith('m=')) sections.push({ media: line.slice(2).split(' '), attributes: [] })
    else if (line.startsWith('a=')) (sections.at(-1)?.attributes ?? session).push(line.slice(2))
  }
  if (sections.length > MAX_SECTIONS) throw invalid(`it has more than ${MAX_SECTIONS} media sections`)
  return { session, sections }
}

function midOf(section: RawSection): string {
  const [kind = '', port = '', protocol = '', format = ''] = section.media
  const readable =
    TOKEN.test(kind) && /^\d{1,5}$/.test(port) && /^[A-Z/]{1,32}$/.test(protocol) && TOKEN.test(format)
  if (!readable) throw invalid('a media section cannot be read')
  const mid = valuesOf(section.attributes, 'mid')[0]?.trim()
  if (mid === undefined || !TOKEN.test(mid)) throw invalid('a media section has no usable mid')
  return mid
}

/** A port of zero closes a section, unless it is only shut until the bundle is agreed upon. */
function isOpen(section: RawSection): boolean {
  return section.media[1] !== '0' || section.attributes.includes('bundle-only')
}

function kindOf(section: RawSection): string {
  return section.media[0] ?? ''
}

function isChannel(section: RawSection): boolean {
  return section.media[0] === 'application' && section.media.includes('webrtc-datachannel')
}

function opusOf(section: RawSection): number | undefined {
  if (section.media[0] !== 'audio') return undefined
  const formats = section.media.slice(3)
  for (const value of valuesOf(section.attributes, 'rtpmap')) {
    const [, payloadType] = /^(\d{1,3}) opus\/48000\/2$/i.exec(value.trim()) ?? []
    if (payloadType === undefined || !formats.includes(payloadType)) continue
    const number = Number(payloadType)
    // With RTP and RTCP on one port, 64 to 95 would be taken for RTCP.
    if (number <= 127 && (number < 64 || number > 95)) return number
  }
  return undefined
}

function rtpmapOf(section: RawSection): { rtpmap?: string } {
  const rtpmap = valuesOf(section.attributes, 'rtpmap').find((value) => {
    return value.startsWith(`${section.media[3]} `) && /^[\w .+/-]{1,100}$/.test(value)
  })
  return rtpmap === undefined ? {} : { rtpmap }
}

function channelLimits(section: RawSection): { port: number; maxMessageSize: number } {
  const port = Number(valuesOf(section.attributes, 'sctp-port')[0] ?? 5000)
  const size = Number(valuesOf(section.attributes, 'max-message-size')[0] ?? 65536)
  if (!Number.isInteger(port) || port < 1 || port > 65535) throw invalid('its SCTP port is not a port')
  if (!Number.isInteger(size) || size < 0) throw invalid('its largest message size is not a number')
  // Zero means that there is no limit.
  return { port, maxMessageSize: size === 0 ? 262_144 : Math.min(size, 262_144) }
}

function bundleOf(session: readonly string[], mid: string): readonly string[] {
  const groups = valuesOf(session, 'group').map((value) => value.trim().split(/ +/))
  return groups.find(([name, ...mids]) => name === 'BUNDLE' && mids.includes(mid))?.slice(1) ?? []
}

function directionOf(attributes: readonly string[]): SdpDirection {
  return DIRECTIONS.findLast((direction) => attributes.includes(direction)) ?? 'sendrecv'
}

function transportOf(session: readonly string[], audio: RawSection): OfferTransport {
  const find = (name: string, shape: RegExp): string | undefined =>
    [...valuesOf(audio.attributes, name), ...valuesOf(session, name)]
      .map((value) => value.trim())
      .find((value) => shape.test(value))
  const ufrag = find('ice-ufrag', /^[A-Za-z0-9+/]{4,256}$/)
  const password = find('ice-pwd', /^[A-Za-z0-9+/]{22,256}$/)
  if (ufrag === undefined || password === undefined) throw invalid('it has no ICE user name and password')
  const fingerprint =
    find('fingerprint', /^sha-256 (?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/i) ??
    find('fingerprint', /^sha-384 (?:[0-9A-F]{2}:){47}[0-9A-F]{2}$/i) ??
    find('fingerprint', /^sha-512 (?:[0-9A-F]{2}:){63}[0-9A-F]{2}$/i)
  if (fingerprint === undefined) throw invalid('it has no DTLS fingerprint that we can check')
  const setup = find('setup', /^(?:actpass|active|passive)$/)
  if (setup === undefined) throw invalid('it does not say who starts DTLS')
  return { ufrag, password, fingerprint, setup }
}

function valuesOf(attributes: readonly string[], name: string): string[] {
  const prefix = `${name}:`
  return attributes.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length))
}

function invalid(why: string): MediaError {
  return new MediaError(
    'invalid_offer',
    `The SDP offer cannot be answered: ${why}. Send the SDP of a WebRTC offer with an Opus audio section.`,
  )
}
