/** The largest message that a client may send. */
export const MAX_MESSAGE_BYTES = 1024 * 1024

/** How a socket was closed. */
export interface SocketEnd {
  readonly code: number
  readonly reason: string
}

const BROKEN_PROTOCOL = 1002
/** What a client is told that breaks a rule, by the code with which `ws` closes it. */
const REASONS: Readonly<Record<number, string>> = {
  [BROKEN_PROTOCOL]: 'The WebSocket protocol was broken.',
  1007: 'A text message is not UTF-8.',
  1008: 'A message has too many parts.',
  1009: `A message is too large: ${MAX_MESSAGE_BYTES} bytes are allowed.`,
}
const CODES: Readonly<Record<string, number>> = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 1009,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 1009,
}

/** The words that belong to a code that a client gets for breaking a rule. */
export function reasonOf(code: number | undefined): string | undefined {
  return code === undefined ? undefined : REASONS[code]
}

/** How a client is closed that broke a rule; nothing when the error is not of that kind. */
export function socketFault(error: Error & { readonly code?: unknown }): SocketEnd | undefined {
  if (typeof error.code !== 'string' || !error.code.startsWith('WS_ERR_')) return undefined
  const code = CODES[error.code] ?? BROKEN_PROTOCOL
  return { code, reason: REASONS[code] ?? '' }
}
