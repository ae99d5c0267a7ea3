import { isShallow, MAX_MESSAGE_BYTES } from '@botcli/protocol'
import { BotError } from './errors.ts'

/** Throws when a message cannot reach every client: the bot is to learn it here, and not its client by silence. */
export function checkMessage(message: unknown): void {
  const text = textOf(message)
  if (text === undefined) {
    throw new BotError('invalid_message', `a message must be JSON; ${typeof message} is not`)
  }
  if (!isShallow(message)) {
    throw new BotError('invalid_message', 'a message may be nested 100 levels deep; this one is deeper')
  }
  // A UTF-16 unit is three bytes of UTF-8 at most, so nearly all messages need no exact count.
  if (text.length * 3 <= MAX_MESSAGE_BYTES) return
  const bytes = new TextEncoder().encode(text).length
  if (bytes > MAX_MESSAGE_BYTES) {
    throw new BotError(
      'invalid_message',
      `a message may have ${MAX_MESSAGE_BYTES} bytes as JSON; this one has ${bytes}. Send it in parts`,
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
