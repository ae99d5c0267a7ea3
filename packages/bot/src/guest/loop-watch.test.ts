import { type GuestReport, parseReportLine } from '@botcli/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { type GuestProcess, startProcess } from '../testing/guest-process.ts'
import { START } from '../testing/test-host.ts'

let guest: GuestProcess | undefined

afterEach(async () => {
  await guest?.close()
  guest = undefined
})

/** Runs a bot to its end and gives what was reported meanwhile. */
async function reportsOf(bot: string): Promise<{ reports: GuestReport[]; rest: string[] }> {
  guest = await startProcess(bot)
  await guest.host.message('ready')
  guest.host.send({ type: 'start', start: START })
  await guest.host.message('end')
  guest.host.port.close()
  expect(await guest.exit).toBe(0)
  const lines = guest.output().stderr.split('\n').filter(Boolean)
  const reports = lines.flatMap((line) => parseReportLine(line) ?? [])
  return { reports, rest: lines.filter((line) => parseReportLine(line) === undefined) }
}

describe('the loop watch', () => {
  it('says where the bot blocks while it does, and how long it was when it is over', async () => {
    const { reports, rest } = await reportsOf(`
function spin(until) {
  while (Date.now() < until) Math.sqrt(2)
}
export async function bot() {
  spin(Date.now() + 3000)
  await new Promise((resolve) => setTimeout(resolve, 1500))
}`)
    const [during, after] = reports
    expect(reports).toHaveLength(2)
    expect(during).toMatchObject({
      type: 'blocked',
      over: false,
      at: expect.stringMatching(/^bot\.mjs:[36]$/),
    })
    expect(during?.ms).toBeGreaterThanOrEqual(500)
    expect(after).toMatchObject({ type: 'blocked', over: true, at: during?.at })
    expect(after?.ms).toBeGreaterThanOrEqual(2500)
    expect(rest).toEqual([])
  })

  it('finds the place when the bot comes out of native code', async () => {
    const { reports } = await reportsOf(`
import { execSync } from 'node:child_process'
export async function bot() {
  execSync('sleep 2')
  await new Promise((resolve) => setTimeout(resolve, 1500))
}`)
    expect(reports.at(-1)).toMatchObject({ over: true, at: expect.stringMatching(/^bot\.mjs:[45]$/) })
    expect(reports.at(-1)?.ms).toBeGreaterThanOrEqual(1500)
  })

  it('says nothing of a bot that is only busy now and then', async () => {
    const { reports, rest } = await reportsOf(`
export async function bot() {
  for (let turn = 0; turn < 10; turn += 1) {
    const until = Date.now() + 100
    while (Date.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}`)
    expect(reports).toEqual([])
    expect(rest).toEqual([])
  })
})
