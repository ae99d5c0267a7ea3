import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { childrenOf, isAlive } from '../../../runner/src/testing/processes.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'
import { StartedRunner } from '../testing/started-runner.ts'

const STAYS = `
from botcli import TransportParams, create_transport
async def bot(args):
    transport = await create_transport(args, {'websocket': TransportParams})
    transport.rtvi.server_message('here')
    await transport.wait_ended()
`
const BLOCKS = `
import asyncio
from botcli import TransportParams, create_transport
async def bot(args):
    transport = await create_transport(args, {'websocket': TransportParams})
    transport.rtvi.server_message('blocking')
    await asyncio.sleep(0.05)
    while True:
        pass
`

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** A runner whose own temporary files can be counted. */
async function start(source: string, options: readonly string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'botcli-py-'))
  const temporary = await mkdtemp(join(tmpdir(), 't-'))
  folders.push(folder, temporary)
  await writeFile(join(folder, 'bot.py'), source)
  const runner = new StartedRunner(folder, ['--port', '0', ...options], { TMPDIR: temporary })
  return { runner, temporary }
}

/** The template, the guests and the media workers. */
function processesOf(runner: StartedRunner): readonly number[] {
  const own = [...childrenOf(runner.pid, 'botcli.guest'), ...runner.children()]
  return [...own, ...own.flatMap((pid) => childrenOf(pid, 'botcli.guest'))]
}

async function call(runner: StartedRunner): Promise<void> {
  const client = await WebsocketClient.connect(`${(await runner.url()).replace('http', 'ws')}/ws-client`)
  await client.message('server-message')
}

async function expectGone(pids: readonly number[]): Promise<void> {
  await until(() => !pids.some(isAlive), 'all processes to be gone')
}

describe.each(['SIGINT', 'SIGTERM'] as const)('%s during a call with a Python bot', (signal) => {
  it.each(['fork', 'spawn'])('leaves nothing behind and exits with 0 (%s)', async (way) => {
    const { runner, temporary } = await start(STAYS, ['--python-start', way])
    await call(runner)
    const all = processesOf(runner)
    expect(all.length).toBeGreaterThanOrEqual(3)
    runner.child.kill(signal)
    expect(await runner.exitCode()).toBe(0)
    expect(runner.stderr).toBe('')
    await expectGone(all)
    expect(await readdir(temporary)).toEqual([])
  })
})

describe('a Python bot that stands still', () => {
  it('is taken along by a second Ctrl-C', async () => {
    const { runner } = await start(BLOCKS)
    await call(runner)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const all = processesOf(runner)
    runner.interrupt()
    await new Promise((resolve) => setTimeout(resolve, 300))
    runner.interrupt()
    expect(await runner.exitCode()).toBe(130)
    await expectGone(all)
  })

  it.each(['fork', 'spawn'])('does not outlive a runner that was killed (%s)', async (way) => {
    const { runner } = await start(BLOCKS, ['--python-start', way])
    await call(runner)
    const all = processesOf(runner)
    runner.child.kill('SIGKILL')
    await expectGone(all)
  })
})

describe('while a Python bot is loaded that never comes to its end', () => {
  it.each(['SIGINT', 'SIGKILL'] as const)('%s ends it', async (signal) => {
    const { runner } = await start(`print('loading')\nwhile True:\n    pass\n`)
    await until(() => runner.lines.some((line) => line.includes('loading')), 'the code to be loaded')
    const all = processesOf(runner)
    if (signal === 'SIGINT') runner.interrupt()
    else runner.child.kill(signal)
    expect(await runner.exitCode()).toBe(signal === 'SIGINT' ? 0 : null)
    expect(runner.stderr).toBe('')
    await expectGone(all)
  })
})

it.each([100, 300, 500, 700, 900])('Ctrl-C after %s ms is a clean end', async (ms) => {
  const { runner, temporary } = await start(STAYS)
  await new Promise((resolve) => setTimeout(resolve, ms))
  const all = processesOf(runner)
  runner.interrupt()
  // Before our code runs it is Node that ends, by the signal.
  expect([0, null]).toContain(await runner.exitCode())
  expect(runner.stderr).toBe('')
  await expectGone(all)
  expect(await readdir(temporary)).toEqual([])
})

it('says what is wrong with a Python bot that does not load, with its traceback', async () => {
  const { runner } = await start('import nowhere_to_be_found\n')
  expect(await runner.exitCode()).toBe(1)
  expect(runner.stderr).toContain('ModuleNotFoundError')
  expect(runner.stderr).toMatch(/bot\.py", line 1/)
})
