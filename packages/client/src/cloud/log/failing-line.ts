import type { LogLines } from './log-lines.ts'

/** The cause is near the end; a whole log is not looked through for it. */
const LOOK_BACK = 5_000
const SUMMARY = /^(?:Failed|Timeout): /

/**
 * The number of the line that tells why a build failed: the last one that holds the message, but for the summary at the end, which is
 * taken when the message stands nowhere else.
 */
export function failingLine(lines: LogLines, message: string): number | undefined {
  const words = message.replace(/…$/, '').trim()
  if (words === '') return undefined
  let summary: number | undefined
  for (let index = lines.count - 1; index >= Math.max(0, lines.count - LOOK_BACK); index -= 1) {
    const text = lines.text(index)
    if (!text.includes(words)) continue
    const number = lines.at(index)?.number
    if (!SUMMARY.test(text)) return number
    summary ??= number
  }
  return summary
}
