import { isShallow, MAX_PAYLOAD_BYTES } from '@botcli/protocol'
import { BotError } from './errors.ts'

/** Room for what the link puts around a message. */
const ENVELOPE_BYTES = 1024

/** Throws when a message cannot cross the link, which would otherwise break the session and not only the message. */
export function checkMessage(message: unknown): void {
  const text = textOf(message)
  if (text === undefined) {
    throw new BotError('invalid_message', `a message must be JSON; ${typeof message} is not`)
  }
  if (!isShallow(message)) {
    throw new BotError('invalid_message', 'a message may be nested 100 levels deep; this one is deeper')
  }
  // A UTF-16 unit is three bytes of UTF-8 at most, so nearly all messages need no exact count.
  if (text.length * 3 <= MAX_PAYLOAD_BYTES - ENVELOPE_BYTES) return
  const bytes = new TextEncoder().encode(text).length
  if (bytes > MAX_PAYLOAD_BYTES - ENVELOPE_BYTES) {
    throw new BotError(
      'invalid_message',
      `a message may have 1 MiB; this one has ${bytes} bytes. Send it in parts`,
    )
  }
}

function textOf(message: unknown): string | undefined {
  try {
    return JSON.stringify(message)
  } catch (cause) {
    throw new BotError('invalid_message', `a message must be JSON: ${String(cause)}`, { cause })
  }
}
