import { inspect } from 'node:util'
import type { LinkError } from '@botcli/protocol'

/** A stack or message longer than this helps nobody. */
const TEXT_LIMIT = 32 * 1024

/** An error as it crosses the link, whatever was thrown. */
export function linkError(error: unknown): LinkError {
  try {
    return spelled(error)
  } catch {
    return { name: 'Error', message: 'the bot threw something that cannot be shown' }
  }
}

/** What was thrown, for the log. What a bot throws may fail to show itself, and must not do more harm by that. */
export function shown(error: unknown): string {
  try {
    return inspect(error)
  } catch {
    return 'something that cannot be shown'
  }
}

function spelled(error: unknown): LinkError {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: `the bot threw something that is not an Error: ${cut(inspect(error))}` }
  }
  const stack = typeof error.stack === 'string' ? { stack: cut(error.stack) } : {}
  return { name: cut(String(error.name)), message: cut(String(error.message)), ...stack }
}

function cut(text: string): string {
  return text.length > TEXT_LIMIT ? `${text.slice(0, TEXT_LIMIT)}…` : text
}
