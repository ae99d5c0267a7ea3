import { afterEach, describe, expect, it } from 'vitest'
import { type GuestProcess, startProcess } from '../testing/guest-process.ts'
import { START, until } from '../testing/test-host.ts'

let guest: GuestProcess | undefined

afterEach(async () => {
  await guest?.close()
  guest = undefined
})

/** A bot that imports this package by name, as a user's bot does. */
const ECHO = `
import { createTransport } from '@botcli/bot'
export async function bot(args) {
  const transport = await createTransport(args, { webrtc: () => ({ audioOutSampleRate: 16000 }) })
  for await (const frame of transport.audio()) await transport.sendAudio(frame.samples)
  console.log('the bot is done')
}`

async function started(bot: string): Promise<GuestProcess> {
  guest = await startProcess(bot)
  await guest.host.message('ready')
  guest.host.send({ type: 'start', start: START })
  return guest
}

describe('a guest process', () => {
  it('runs a bot over descriptor 3, and exits with 0 when it is done', async () => {
    const { host, child, exit, output } = await started(ECHO)
    expect(await host.message('hello')).toMatchObject({
      pid: child.pid,
      runtime: `node ${process.versions.node}`,
    })
    await host.message('format')
    host.port.laterPlayback(0, 0, 16_000)
    host.port.flush()
    const sound = Int16Array.from({ length: 320 }, (_, index) => index * 7)
    while (host.sound.length === 0) {
      host.port.sendAudioIn(0, sound)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(host.sound[0]?.samples).toEqual(sound)
    host.send({ type: 'cancel', cause: 'client_left', message: 'the caller left', deadlineMs: 5000 })
    expect((await host.message('end')).outcome).toBe('returned')
    host.port.close()
    expect(await exit).toBe(0)
    expect(output()).toEqual({ stdout: 'the bot is done\n', stderr: '' })
  })

  /** An engine replaces what it loads late by the thing itself, when that is used for the first time. */
  const IS_WARM = `'value' in Object.getOwnPropertyDescriptor(globalThis, 'Request')`

  it('is prepared for requests while it waits', async () => {
    guest = await startProcess(`
      let timer = setInterval(() => {
        if (!(${IS_WARM})) return
        clearInterval(timer)
        console.log('prepared')
      }, 10)
      console.log('prepared at once: ' + (${IS_WARM}))
      export async function bot() {}`)
    const { host, output } = guest
    await host.message('ready')
    await until(() => output().stdout.includes('prepared\n'))
    expect(output()).toEqual({ stdout: 'prepared at once: false\nprepared\n', stderr: '' })
  })

  it('is prepared for requests when its bot begins to serve, if it did not wait', async () => {
    const { host, output } = await started(`
      import { serve } from '@botcli/bot'
      export async function bot(args) {
        serve(args, () => Response.json({}))
        console.log('prepared: ' + (${IS_WARM}))
      }`)
    await host.message('serving')
    await until(() => output().stdout.includes('prepared'))
    expect(output().stdout).toBe('prepared: true\n')
  })

  it('writes all of its output before it exits, and leaves what the bot forgot to close', async () => {
    const { host, exit, output } = await started(`
      export async function bot() {
        setInterval(() => {}, 1000)
        process.stdout.write('x'.repeat(500000) + 'end')
      }`)
    await host.message('end')
    host.port.close()
    expect(await exit).toBe(0)
    expect(output().stdout).toHaveLength(500_003)
  })

  it.each([
    ['throws', `export async function bot() { throw new Error('broken here') }`],
    [
      'throws in a timer',
      `export const bot = () => new Promise(() => setTimeout(() => { throw new Error('broken here') }))`,
    ],
    [
      'forgets a rejection',
      `export const bot = () => new Promise(() => { Promise.reject(new Error('broken here')) })`,
    ],
  ])('fails with the place in the code when the bot %s', async (_, bot) => {
    const { host, exit } = await started(bot)
    const { outcome, error } = await host.message('end')
    expect(outcome).toBe('failed')
    expect(error).toMatchObject({ name: 'Error', message: 'broken here' })
    expect(error?.stack).toMatch(/bot\.mjs:\d+/)
    host.port.close()
    expect(await exit).toBe(1)
  })

  it.each([
    ['there is no bot function', 'export const helper = 1', /no function named `bot` \(it exports helper\)/],
    ['it throws while loading', `throw new RangeError('at load')`, /at load/],
    ['an import is missing', `import './nothing.mjs'; export const bot = () => {}`, /nothing\.mjs/],
  ])('says so when %s', async (_, bot, message) => {
    guest = await startProcess(bot)
    expect((await guest.host.message('load-failed')).error.message).toMatch(message)
    expect(await guest.exit).toBe(1)
  })

  it('ignores SIGINT, and finishes its session on SIGTERM', async () => {
    const { host, child, exit } = await started(ECHO)
    await host.message('format')
    child.kill('SIGINT')
    host.send({ type: 'ping', id: 1 })
    await host.message('pong')
    child.kill('SIGTERM')
    expect((await host.message('end')).outcome).toBe('returned')
    host.port.close()
    expect(await exit).toBe(0)
  })

  it('exits when its host is gone', async () => {
    const { host, exit, output } = await started(ECHO)
    await host.message('format')
    host.port.destroy()
    expect(await exit).toBe(1)
    expect(output()).toMatchObject({
      stdout: 'the bot is done\n',
      stderr: expect.stringContaining('link closed'),
    })
  })

  it('exits when its host is gone and nobody reads its log', async () => {
    const { host, child, exit } = await started(`
      export async function bot() {
        setInterval(() => console.log('line'), 1)
        setInterval(() => console.error('line'), 1)
        setTimeout(() => { throw new Error('late') }, 500)
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }`)
    await until(() => child.stdout?.readableFlowing && host.messages.length === 2)
    child.stdout?.destroy()
    child.stderr?.destroy()
    host.port.destroy()
    expect(await exit).toBe(1)
  })

  it('prints why it was refused', async () => {
    guest = await startProcess(ECHO)
    guest.host.send({ type: 'refused', message: 'version 1 is too old' })
    expect(await guest.exit).toBe(1)
    expect(guest.output().stderr).toContain('version 1 is too old')
  })

  it('is gone at once when its host goes while it is spare', async () => {
    guest = await startProcess(ECHO)
    await guest.host.message('ready')
    guest.host.port.close()
    expect(await guest.exit).toBe(0)
    expect(guest.output()).toEqual({ stdout: '', stderr: '' })
  })
})
