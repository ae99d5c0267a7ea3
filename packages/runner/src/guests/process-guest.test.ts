import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LogCapture } from '../testing/log-capture.ts'
import { childrenOf, isAlive } from '../testing/processes.ts'
import { until } from '../testing/runner-fixture.ts'
import { javascriptCommand } from './guest-command.ts'
import { KernelKills } from './kernel-kills.ts'
import { ProcessGuest, type ProcessGuestOptions } from './process-guest.ts'

const guests = () => childrenOf(process.pid, 'guest/main.js')

describe('a guest process', () => {
  let folder: string
  let count = 0
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botcli-guest-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function start(source: string, options: Partial<ProcessGuestOptions> = {}) {
    count += 1
    const path = join(folder, `bot-${count}.mjs`)
    await writeFile(path, source)
    const log = new LogCapture()
    const code = { kind: 'javascript', url: pathToFileURL(path).href, version: 7 } as const
    const command = javascriptCommand(code, { PATH: '' }, 256 * 1024 * 1024)
    const guest = ProcessGuest.start(command, { folder, logger: log.logger, ...options })
    return { guest, log }
  }

  /** Expects that a bot does not load, and that its process is gone by the time this is told. */
  async function expectRefused(source: string, words: RegExp, options: Partial<ProcessGuestOptions> = {}) {
    const { guest, log } = await start(source, options)
    await expect(guest).rejects.toMatchObject({
      code: 'bot_load_failed',
      message: expect.stringMatching(words),
    })
    expect(guests()).toEqual([])
    return { error: await guest.catch((error: unknown) => error), log }
  }

  it('waits with the code loaded, and ends when it is told to', async () => {
    const { guest } = await start('export async function bot() {}')
    const loaded = await guest
    expect(loaded.version).toBe(7)
    expect(guests()).toHaveLength(1)
    await loaded.stop(0)
    expect(await loaded.exited).toEqual({ how: 'exited with code 0', outOfMemory: false })
    expect(guests()).toEqual([])
  })

  it('says what the code threw when it was loaded, and where', async () => {
    const { error } = await expectRefused(`throw new RangeError('at load')`, /RangeError: at load/)
    expect(error).toMatchObject({ detail: expect.stringMatching(/bot-\d+\.mjs:1/) })
  })

  it('says what is missing when there is no bot in the code', async () => {
    await expectRefused('export const other = 1', /`bot`/)
    await expectRefused('export const bot = 5', /bot/)
  })

  it('says how the process ended when it did while it loaded', async () => {
    await expectRefused('process.exit(9)', /exited with code 9 while it loaded/)
    await expectRefused(`process.kill(process.pid, 'SIGKILL')`, /was ended by SIGKILL while it loaded/)
  })

  it('says so when the kernel has ended it for want of memory, and not when somebody else has', async () => {
    const file = join(folder, 'memory.events')
    await writeFile(file, 'oom_kill 3\n')
    const mounts = `29 24 0:26 / ${folder} rw - cgroup2 cgroup2 rw\n`
    const kills = KernelKills.find({ membership: '0::/\n', mounts })
    const end = `process.kill(process.pid, 'SIGKILL')`
    const counted = `import { writeFileSync } from 'node:fs'\nwriteFileSync('memory.events', 'oom_kill 4\\n')`
    await expectRefused(end, /was ended by SIGKILL while/, { kills })
    await expectRefused(`${counted}\n${end}`, /ran out of memory while/, { kills })
    await expectRefused(end, /was ended by SIGKILL while/, { kills })
    const { guest } = await start(
      `${counted.replace('4', '5')}\nexport async function bot() {}
      process.on('SIGTERM', () => {})\nsetTimeout(() => { for (;;) {} })`,
      { kills },
    )
    const stuck = await guest
    await stuck.stop(0)
    expect(await stuck.exited).toEqual({ how: 'was ended by SIGKILL', outOfMemory: false })
  })

  it('says so when it speaks another version of the link', async () => {
    const { log } = await expectRefused(
      `import { writeSync } from 'node:fs'
      const hello = JSON.stringify({ type: 'hello', version: 99, runtime: 'x', pid: 1 })
      writeSync(3, Buffer.concat([Buffer.from([1, 0, 0, 0, hello.length]), Buffer.from(hello)]))
      await new Promise((resolve) => setTimeout(resolve, 1e6))`,
      /version 99 of the link/,
    )
    expect(log.find('refused this guest')).toBeDefined()
  })

  it('says so when it could not be started at all', async () => {
    await expectRefused('export const bot = () => {}', /could not be started/, {
      folder: join(folder, 'not-there'),
    })
  })

  it('is not waited for when nobody wants it any more, however long it loads', async () => {
    const unwanted = new AbortController()
    const { guest } = await start(`console.log('loading'); await new Promise((r) => setInterval(r, 1e9))`, {
      unwanted: unwanted.signal,
    })
    await until(() => guests().length === 1, 'the process')
    unwanted.abort()
    await expect(guest).rejects.toMatchObject({ code: 'bot_load_failed' })
    expect(guests()).toEqual([])
  })

  it('ends by force when it does not end otherwise, with everything that it started', async () => {
    const { guest, log } = await start(`
      import { spawn } from 'node:child_process'
      process.on('SIGTERM', () => {})
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
      console.log('child ' + child.pid)
      export const bot = () => {}
      setTimeout(() => { for (;;) {} }, 50)`)
    const loaded = await guest
    const line = await until(() => log.find('child '), 'the pid of the child')
    const child = Number(line.msg.split(' ')[1])
    await loaded.stop(0)
    expect((await loaded.exited).how).toMatch(/ended by SIG|exited/)
    await until(() => !isAlive(child), 'the child to be gone')
  })

  it('logs what the bot writes, and warns of what it writes to standard error', async () => {
    const { guest, log } = await start(`
      console.log('to stdout'); console.error('to stderr')
      process.stderr.write('\\u001e{"type":"blocked","ms":1234,"over":true,"at":"bot.ts:3"}\\n')
      export const bot = () => {}`)
    const loaded = await guest
    await until(() => log.find('was blocked'), 'the report')
    expect(log.find('to stdout')).toMatchObject({ level: 'info', from: 'bot' })
    expect(log.find('to stderr')).toMatchObject({ level: 'warn', from: 'bot' })
    expect(log.find('was blocked')).toMatchObject({
      msg: expect.stringContaining('1.2 s at bot.ts:3'),
      ms: 1234,
    })
    await loaded.stop(0)
  })

  it('can be stopped twice, and after it is gone', async () => {
    const { guest } = await start('export const bot = () => {}')
    const loaded = await guest
    await Promise.all([loaded.stop(0), loaded.stop(0)])
    await loaded.stop(1000)
  })
})
