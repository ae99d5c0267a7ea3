/** Every way in which a caller can reach a bot. */
export const TRANSPORT_IDS = [
  'webrtc',
  'room',
  'telephony_a',
  'telephony_b',
  'telephony_c',
  'telephony_d',
  'websocket',
] as const

/** The phone carriers among them. */
export const CARRIER_IDS = ['telephony_a', 'telephony_b', 'telephony_c', 'telephony_d'] as const
export type CarrierId = (typeof CARRIER_IDS)[number]

/** What the rest of the house may know about a transport without knowing its wire. */
export interface TransportFacts {
  /** The provider behind the neutral id, in words for people. This table is the only place that names it. */
  readonly label: string
  readonly telephony: boolean
  /** Whether the provider's webhook needs to be told a public host name. */
  readonly needsProxy: boolean
  /** Variables that this transport can use, and whether it works without them. */
  readonly credentials: readonly string[]
  readonly credentialsRequired: boolean
}

/** One row a transport. */
export const TRANSPORTS: Readonly<Record<(typeof TRANSPORT_IDS)[number], TransportFacts>> = {
  webrtc: {
    label: 'WebRTC',
    telephony: false,
    needsProxy: false,
    credentials: [],
    credentialsRequired: false,
  },
  room: {
    label: 'Daily room',
    telephony: false,
    needsProxy: false,
    credentials: ['ROOM_API_KEY'],
    credentialsRequired: true,
  },
  telephony_a: {
    label: 'Twilio',
    telephony: true,
    needsProxy: true,
    credentials: ['TELEPHONY_A_ACCOUNT_ID', 'TELEPHONY_A_AUTH_TOKEN'],
    credentialsRequired: false,
  },
  telephony_b: {
    label: 'Telnyx',
    telephony: true,
    needsProxy: true,
    credentials: ['TELEPHONY_B_API_KEY'],
    credentialsRequired: false,
  },
  telephony_c: {
    label: 'Plivo',
    telephony: true,
    needsProxy: true,
    credentials: ['TELEPHONY_C_AUTH_ID', 'TELEPHONY_C_AUTH_TOKEN'],
    credentialsRequired: false,
  },
  telephony_d: {
    label: 'Exotel',
    telephony: true,
    needsProxy: false,
    credentials: [],
    credentialsRequired: false,
  },
  websocket: {
    label: 'WebSocket',
    telephony: false,
    needsProxy: false,
    credentials: [],
    credentialsRequired: false,
  },
}
