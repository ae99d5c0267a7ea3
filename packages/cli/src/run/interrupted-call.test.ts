import { rm } from 'node:fs/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { isAlive } from '../../../runner/src/testing/processes.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'
import { botFolder, StartedRunner } from '../testing/started-runner.ts'

const BLOCKS = `
import { createTransport, type RunnerArguments } from '@botcli/bot'
export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, { websocket: () => ({}) })
  transport.rtvi.onClientReady(() => {
    transport.rtvi.serverMessage('blocking')
    setTimeout(() => { for (;;) Math.sqrt(2) }, 50)
  })
  await new Promise(() => {})
}
`

const folders: string[] = []
const started: StartedRunner[] = []
afterEach(async () => {
  for (const runner of started.splice(0)) runner.child.kill('SIGKILL')
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function start(source?: string): Promise<StartedRunner> {
  const folder = source === undefined ? 'examples/echo' : await botFolder(source)
  if (source !== undefined) folders.push(folder)
  const runner = new StartedRunner(folder)
  started.push(runner)
  return runner
}

async function call(runner: StartedRunner): Promise<WebsocketClient> {
  const client = await WebsocketClient.connect(`${(await runner.url()).replace('http', 'ws')}/ws-client`)
  client.sendMessage('client-ready', { version: '2.2.0' })
  await client.message('bot-ready')
  return client
}

async function expectGone(pids: readonly number[]): Promise<void> {
  await until(() => !pids.some(isAlive), 'all processes to be gone')
}

describe.each(['SIGINT', 'SIGTERM'] as const)('%s during a call', (signal) => {
  it('tells the client, leaves no process behind and exits with 0', async () => {
    const runner = await start()
    const client = await call(runner)
    const children = runner.children()
    expect(children.length).toBeGreaterThanOrEqual(2)
    runner.child.kill(signal)
    expect(await runner.exitCode()).toBe(0)
    expect(await client.whenClosed()).toEqual({ code: 1012, reason: 'The runner is shutting down.' })
    await expectGone(children)
  })
})

describe('a bot that stands still', () => {
  it('is taken along by a second Ctrl-C', async () => {
    const runner = await start(BLOCKS)
    await (await call(runner)).message('server-message')
    await new Promise((resolve) => setTimeout(resolve, 200))
    const children = runner.children()
    runner.interrupt()
    await new Promise((resolve) => setTimeout(resolve, 300))
    runner.interrupt()
    expect(await runner.exitCode()).toBe(130)
    await expectGone(children)
  })

  it('does not outlive a runner that was killed', async () => {
    const runner = await start(BLOCKS)
    await (await call(runner)).message('server-message')
    const children = runner.children()
    runner.child.kill('SIGKILL')
    await expectGone(children)
  })
})

describe('Ctrl-C while the runner starts', () => {
  it.each([
    ['never finishes', 'for (;;) Math.sqrt(2)'],
    ['never comes back', 'await new Promise(() => {})'],
  ])('ends a bot whose loading %s, with 0', async (_, line) => {
    const runner = await start(`${line}\nexport async function bot(): Promise<void> {}\n`)
    const [guest] = await until(() => runner.guests().length > 0 && runner.guests(), 'a guest that loads')
    runner.interrupt()
    expect(await runner.exitCode()).toBe(0)
    expect(runner.stderr).toBe('')
    await expectGone([guest ?? 0])
  })

  it.each([100, 300, 500, 700])('is a clean end after %s ms, too', async (ms) => {
    const runner = await start()
    await new Promise((resolve) => setTimeout(resolve, ms))
    runner.interrupt()
    // Before our code runs it is Node that ends, by the signal.
    expect([0, null]).toContain(await runner.exitCode())
    expect(runner.stderr).toBe('')
  })
})

it('refuses new sessions while it ends', async () => {
  const runner = await start()
  const url = await runner.url()
  await call(runner)
  runner.interrupt()
  const refused = await until(async () => {
    const answer = await fetch(`${url}/start`, { method: 'POST' }).catch(() => undefined)
    return answer === undefined || answer.status === 503
  }, 'new sessions to be refused')
  expect(refused).toBe(true)
  expect(await runner.exitCode()).toBe(0)
})
