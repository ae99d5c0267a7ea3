import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GuestReport, parseReportLine } from '@botcli/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { type GuestProcess, startProcess } from '../testing/guest-process.ts'
import { START, until } from '../testing/test-host.ts'

let guest: GuestProcess | undefined

afterEach(async () => {
  await guest?.close()
  guest = undefined
})

async function start(bot: string): Promise<GuestProcess> {
  guest = await startProcess(bot)
  await guest.host.message('ready')
  guest.host.send({ type: 'start', start: START })
  return guest
}

const linesOf = ({ output }: GuestProcess): string[] => output().stderr.split('\n').filter(Boolean)

const reportsOf = (running: GuestProcess): GuestReport[] =>
  linesOf(running).flatMap((line) => parseReportLine(line) ?? [])

/**
 * Runs a bot that blocks until there is a file named `stop` and then lives until there is one named `leave`. So it
 * blocks for as long as the report takes, on a machine of any speed.
 */
async function blockUntilReported(bot: string): Promise<{ during: GuestReport; after: GuestReport }> {
  const running = await start(bot)
  const during = await until(() => reportsOf(running).find(({ over }) => !over))
  await writeFile(join(running.folder, 'stop'), '')
  const after = await until(() => reportsOf(running).find(({ over }) => over))
  await writeFile(join(running.folder, 'leave'), '')
  await running.host.message('end')
  running.host.port.close()
  expect(await running.exit).toBe(0)
  expect(linesOf(running)).toHaveLength(2)
  return { during, after }
}

const LEAVE = `while (!existsSync('leave')) await new Promise((resolve) => setTimeout(resolve, 20))`

describe('the loop watch', () => {
  it('says where the bot blocks while it does, and how long it was when it is over', async () => {
    const { during, after } = await blockUntilReported(`
import { existsSync } from 'node:fs'
export async function bot() {
  while (!existsSync('stop'));
  ${LEAVE}
}`)
    expect(during.ms).toBeGreaterThanOrEqual(400)
    expect(after.ms).toBeGreaterThanOrEqual(during.ms)
    expect(after.at).toBe('bot.mjs:4')
    // A machine that is very busy may not find the place in time for the first report.
    expect([after.at, undefined]).toContain(during.at)
  })

  it('finds the place when the bot comes out of native code', async () => {
    const { during, after } = await blockUntilReported(`
import { execSync } from 'node:child_process'
import { existsSync } from 'node:fs'
export async function bot() {
  execSync('until [ -e stop ]; do sleep 0.05; done')
  ${LEAVE}
}`)
    expect(during).toEqual({ type: 'blocked', ms: expect.any(Number), over: false })
    expect(after.at).toBe('bot.mjs:5')
  })

  it('says nothing of a bot that is only busy now and then', async () => {
    const running = await start(`
export async function bot() {
  for (let turn = 0; turn < 20; turn += 1) {
    const until = Date.now() + 30
    while (Date.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}`)
    await running.host.message('end')
    running.host.port.close()
    expect(await running.exit).toBe(0)
    expect(linesOf(running)).toEqual([])
  })
})
