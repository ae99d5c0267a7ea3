import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { childrenOf, isAlive } from '../../../runner/src/testing/processes.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'

const REPOSITORY = resolve(import.meta.dirname, '../../../..')

interface StartedRunner {
  readonly child: ChildProcess
  readonly url: string
  readonly lines: readonly string[]
}

async function startRunner(...options: readonly string[]): Promise<StartedRunner> {
  const bin = resolve(REPOSITORY, 'packages/cli/bin/botcli.js')
  const child = spawn(process.execPath, [bin, 'run', 'examples/echo', '--port', '0', ...options], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const ready = await until(() => lines.find((line) => line.includes('"ready"')), 'the runner to be ready')
  return { child, url: (JSON.parse(ready) as { url: string }).url, lines }
}

async function call(url: string): Promise<WebsocketClient> {
  const client = await WebsocketClient.connect(`${url.replace('http', 'ws')}/ws-client`)
  client.sendMessage('client-ready', { version: '2.2.0' })
  await client.message('bot-ready')
  return client
}

describe.each(['SIGINT', 'SIGTERM'] as const)('%s during a call', (signal) => {
  it('tells the client, leaves no process behind and exits with 0', async () => {
    const { child, url } = await startRunner()
    const client = await call(url)
    const children = childrenOf(child.pid ?? 0, 'main.js')
    expect(children.length).toBeGreaterThanOrEqual(2)
    child.kill(signal)
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
    expect(await client.whenClosed()).toEqual({ code: 1012, reason: 'The runner is shutting down.' })
    await until(() => !children.some(isAlive), 'all processes to be gone')
  })
})

it('exits at once on the second signal, and takes everything with it', async () => {
  const { child, url } = await startRunner()
  await call(url)
  const children = childrenOf(child.pid ?? 0, 'main.js')
  // A guest that stands still keeps the first signal waiting.
  for (const pid of childrenOf(child.pid ?? 0, 'guest/main.js')) process.kill(pid, 'SIGSTOP')
  child.kill('SIGINT')
  await new Promise((done) => setTimeout(done, 300))
  child.kill('SIGINT')
  const [code] = await once(child, 'exit')
  expect(code).toBe(130)
  for (const pid of children) if (isAlive(pid)) process.kill(pid, 'SIGCONT')
  await until(() => !children.some(isAlive), 'all processes to be gone')
})

it('refuses new sessions while it ends', async () => {
  const { child, url } = await startRunner()
  await call(url)
  child.kill('SIGINT')
  const refusals = await until(async () => {
    try {
      const answer = await fetch(`${url}/start`, { method: 'POST' })
      return answer.status === 503 || undefined
    } catch {
      return true
    }
  }, 'new sessions to be refused')
  expect(refusals).toBe(true)
  await once(child, 'exit')
})
