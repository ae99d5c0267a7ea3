import { z } from 'zod'

/**
 * A guest tells the runner about its own health on standard error, where its log goes, because it must be
 * able to do so while its event loop is blocked. A report is one line: this mark, then JSON.
 */
export const REPORT_MARK = '\u001e'

/** The event loop of a guest stood still. */
export const guestReportSchema = z.object({
  type: z.literal('blocked'),
  ms: z.number().nonnegative(),
  /** False in the report that is made while the loop still stands. */
  over: z.boolean(),
  /** The user's file and line, when it can be had. */
  at: z.string().optional(),
})
export type GuestReport = z.infer<typeof guestReportSchema>

/** Spells a report as a line. */
export function reportLine(report: GuestReport): string {
  return `${REPORT_MARK}${JSON.stringify(report)}\n`
}

/** Reads a line of a guest's standard error: a report, or nothing when it is the user's own text. */
export function parseReportLine(line: string): GuestReport | undefined {
  if (!line.startsWith(REPORT_MARK)) return undefined
  try {
    return guestReportSchema.safeParse(JSON.parse(line.slice(1))).data
  } catch {
    return undefined
  }
}
