import { describe, expect, it } from 'vitest'
import { type GuestReport, parseReportLine, REPORT_MARK, reportLine } from './guest-report.ts'

describe('a guest report', () => {
  it.each<GuestReport>([
    { type: 'blocked', ms: 700, over: false },
    { type: 'blocked', ms: 2034, over: true, at: 'bot.ts:12' },
  ])('is one line that can be read again: %j', (report) => {
    const line = reportLine(report)
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(parseReportLine(line.trimEnd())).toEqual(report)
  })

  it.each([
    'the bot says hello',
    '',
    '{"type":"blocked","ms":1,"over":true}',
    REPORT_MARK,
    `${REPORT_MARK}{`,
    `${REPORT_MARK}{"type":"blocked","ms":-1,"over":true}`,
    `${REPORT_MARK}{"type":"other","ms":1,"over":true}`,
  ])('is not %j', (line) => {
    expect(parseReportLine(line)).toBeUndefined()
  })
})
