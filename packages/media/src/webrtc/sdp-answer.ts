import type { IceOptions } from '../wire.ts'
import type { Offer, OfferSection } from './sdp-offer.ts'

const TRANSPORT_ATTRIBUTES = /^a=(?:ice-ufrag|ice-pwd|ice-options|fingerprint|setup):/

/**
 * The answer to the client: our native sections where we take part, and for every other section of the
 * offer, in its order, one that declines it without closing it. A closed section would make a browser stop its
 * transceiver for good.
 */
export function composeAnswer(offer: Offer, native: string, ice: IceOptions): string {
  const { session, sections } = splitNative(native)
  const audio = sections.get(offer.audio.mid) ?? []
  const transport = [...session, ...audio].filter((line) => TRANSPORT_ATTRIBUTES.test(line))
  const bundled = offer.sections.filter((section) => section.bundled && !section.rejected)
  const lines = [
    ...session.filter((line) => !line.startsWith('a=group:')),
    ...(offer.bundle ? [`a=group:BUNDLE ${bundled.map((section) => section.mid).join(' ')}`] : []),
    ...offer.sections.flatMap((section) => sections.get(section.mid) ?? declined(section, transport)),
  ]
  return `${withIce(lines, ice).join('\r\n')}\r\n`
}

function splitNative(sdp: string): { session: string[]; sections: Map<string, string[]> } {
  const session: string[] = []
  const all: string[][] = []
  for (const line of sdp.split(/\r?\n/).filter((line) => line !== '')) {
    if (line.startsWith('m=')) all.push([line])
    else (all.at(-1) ?? session).push(line)
  }
  const mid = (lines: string[]) => lines.find((line) => line.startsWith('a=mid:'))?.slice(6) ?? ''
  return { session, sections: new Map(all.map((lines) => [mid(lines), lines])) }
}

function declined(section: OfferSection, transport: readonly string[]): string[] {
  const shut = section.rejected || !section.bundled
  return [
    `m=${section.kind} ${shut ? 0 : 9} ${section.protocol} ${section.format}`,
    'c=IN IP4 0.0.0.0',
    `a=mid:${section.mid}`,
    'a=inactive',
    ...(shut ? [] : ['a=rtcp-mux', ...transport]),
    ...(section.rtpmap === undefined ? [] : [`a=rtpmap:${section.rtpmap}`]),
  ]
}

function withIce(lines: readonly string[], ice: IceOptions): readonly string[] {
  let result = lines
  if (ice.announcedAddress !== undefined) result = announced(result, ice.announcedAddress)
  if (ice.esp32Host !== undefined) result = forEsp32(result, ice.esp32Host)
  return result
}

/** Every address that was found becomes the announced one; two that then differ in nothing but name become one. */
function announced(lines: readonly string[], address: string): string[] {
  const seen = new Set<string>()
  return lines.flatMap((line) => {
    if (!line.startsWith('a=candidate:')) return [line]
    const parts = line.split(' ')
    const [foundation, component, protocol, priority, , port] = parts
    const key = `${component} ${protocol} ${port}`
    if (!line.includes(' typ host') || seen.has(key)) return []
    seen.add(key)
    return [[foundation, component, protocol, priority, address, port, ...parts.slice(6)].join(' ')]
  })
}

/** An ESP32 knows only SHA-256, and has room for one candidate. */
function forEsp32(lines: readonly string[], host: string): string[] {
  return lines
    .filter((line) => !/sha-(?:384|512)/i.test(line))
    .filter((line) => {
      if (!line.startsWith('a=candidate:')) return true
      return line.split(' ')[4] === host && !line.includes('raddr')
    })
}
