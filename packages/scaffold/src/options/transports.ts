import { SCAFFOLD_TRANSPORTS, type ScaffoldTransport } from '../configuration.ts'

/** What a project must know about a transport to be planned. */
export interface TransportKind {
  /** For people. The words for providers are those of the protocol's table; a test holds them together. */
  readonly label: string
  readonly telephony: boolean
  readonly carriesVideo: boolean
  /** The way in which phone calls come; a project has one. */
  readonly callFlow?: 'carrier' | 'room_pstn' | 'telephony_a_room_sip'
}

/** One row a transport. */
export const TRANSPORT_KINDS: Readonly<Record<ScaffoldTransport, TransportKind>> = {
  room: { label: 'Daily room', telephony: false, carriesVideo: true },
  webrtc: { label: 'WebRTC', telephony: false, carriesVideo: true },
  websocket: { label: 'WebSocket', telephony: false, carriesVideo: false },
  telephony_a: { label: 'Twilio', telephony: true, carriesVideo: false, callFlow: 'carrier' },
  telephony_b: { label: 'Telnyx', telephony: true, carriesVideo: false, callFlow: 'carrier' },
  telephony_c: { label: 'Plivo', telephony: true, carriesVideo: false, callFlow: 'carrier' },
  telephony_d: { label: 'Exotel', telephony: true, carriesVideo: false, callFlow: 'carrier' },
  room_pstn: {
    label: 'Phone numbers of Daily rooms',
    telephony: true,
    carriesVideo: false,
    callFlow: 'room_pstn',
  },
  telephony_a_room_sip: {
    label: 'Twilio numbers into Daily rooms by SIP',
    telephony: true,
    carriesVideo: false,
    callFlow: 'telephony_a_room_sip',
  },
}

/** Transports of web bots. */
export const WEB_TRANSPORTS = SCAFFOLD_TRANSPORTS.filter((id) => !TRANSPORT_KINDS[id].telephony)

/** Transports that make a bot a telephony bot. */
export const TELEPHONY_TRANSPORTS = SCAFFOLD_TRANSPORTS.filter((id) => TRANSPORT_KINDS[id].telephony)

/** Those among some transports that carry video. */
export function videoTransports(transports: readonly ScaffoldTransport[]): readonly ScaffoldTransport[] {
  return transports.filter((id) => TRANSPORT_KINDS[id].carriesVideo)
}

/** The first transport of each way in which phone calls come. More than one cannot live in a project. */
export function callFlows(transports: readonly ScaffoldTransport[]): readonly ScaffoldTransport[] {
  const flows = new Map<string, ScaffoldTransport>()
  for (const id of transports) {
    const flow = TRANSPORT_KINDS[id].callFlow
    if (flow !== undefined && !flows.has(flow)) flows.set(flow, id)
  }
  return [...flows.values()]
}
