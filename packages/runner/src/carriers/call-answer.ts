import type { TransportId } from '@botcli/protocol'

/** What a carrier is told to do with a call. */
export interface CallAnswer {
  readonly contentType: string
  readonly body: string
}

/** Where the call's sound goes, and what the carrier is to repeat on that connection. */
export interface StreamTarget {
  readonly wsUrl: string
  readonly parameters: Readonly<Record<string, string>>
}

/** More than this the carriers do not take. */
const MAX_PARAMETERS = 50
const MAX_PARAMETER_CHARACTERS = 500
const MAX_HEADER_BYTES = 512

/** The answer to a carrier's question what to do with a call; undefined for what is not a carrier. */
export function callAnswer(transport: TransportId, target: StreamTarget): CallAnswer | undefined {
  const url = escapeXml(target.wsUrl)
  switch (transport) {
    case 'telephony_a':
      return xml(`<Connect><Stream url="${url}">${parameterElements(target)}</Stream></Connect>`)
    case 'telephony_b': {
      // Without these it sends whatever the caller's network speaks, and expects MP3 back.
      const codec = 'codec="PCMU" bidirectionalMode="rtp" bidirectionalCodec="PCMU"'
      return xml(`<Connect><Stream url="${url}" ${codec}>${parameterElements(target)}</Stream></Connect>`)
    }
    case 'telephony_c': {
      const headers = extraHeaders(target)
      const extra = headers === '' ? '' : ` extraHeaders="${escapeXml(headers)}"`
      const format = 'bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000"'
      return xml(`<Stream ${format}${extra}>${url}</Stream>`)
    }
    case 'telephony_d':
      return { contentType: 'application/json', body: JSON.stringify({ url: target.wsUrl }) }
    default:
      return undefined
  }
}

/** Makes any text safe inside XML, as text or as a value. What XML cannot hold at all is left out. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[<>&"'\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function xml(inner: string): CallAnswer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Response>${inner}</Response>`
  return { contentType: 'application/xml', body }
}

function parameterElements({ parameters }: StreamTarget): string {
  return Object.entries(parameters)
    .filter(([name, value]) => name.length + value.length <= MAX_PARAMETER_CHARACTERS)
    .slice(0, MAX_PARAMETERS)
    .map(([name, value]) => `<Parameter name="${escapeXml(name)}" value="${escapeXml(value)}"/>`)
    .join('')
}

/** Provider C takes pairs with few characters and no way to escape others, so what does not fit stays out. */
function extraHeaders({ parameters }: StreamTarget): string {
  let text = ''
  for (const [name, value] of Object.entries(parameters)) {
    const bare = value.replace(/^\+(?=\d+$)/, '')
    if (!/^\w+$/.test(name) || !/^[\w.-]+$/.test(bare)) continue
    const longer = `${text}${text === '' ? '' : ','}${name}=${bare}`
    if (longer.length <= MAX_HEADER_BYTES) text = longer
  }
  return text
}
