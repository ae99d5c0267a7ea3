import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'

const REPOSITORY = resolve(import.meta.dirname, '../../../..')

/** Callers that run in processes of their own, so that they can be stopped without a word. */
const WEBRTC_CALLER = `
import { WebrtcTestClient } from '${REPOSITORY}/packages/media/src/testing/webrtc-client.ts'
const url = process.argv[2]
const client = new WebrtcTestClient({
  signal: async (sdp) => {
    const body = JSON.stringify({ sdp, type: 'offer' })
    return (await (await fetch(url, { method: 'POST', body })).json()).sdp
  },
})
await client.connect()
await client.sendTone(440, 600_000)
`
const WEBSOCKET_CALLER = `
import { WebSocket } from 'ws'
const websocket = new WebSocket(process.argv[2])
websocket.on('open', () => setInterval(() => websocket.send('{"label":"rtvi-ai","type":"x","id":"1"}'), 200))
`

describe('a caller that vanishes without a word', () => {
  let runner: RunnerFixture
  let folder: string
  const callers: ChildProcess[] = []

  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO)
    // Inside of the repository, so that the packages which are not bundled are found.
    folder = await mkdtemp(join(REPOSITORY, 'node_modules/.botcli-callers-'))
  })
  afterAll(async () => {
    for (const caller of callers) caller.kill('SIGKILL')
    await runner.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function call(name: string, source: string, url: string): Promise<ChildProcess> {
    const outfile = join(folder, `${name}.mjs`)
    await build({
      stdin: { contents: source, resolveDir: REPOSITORY, loader: 'ts' },
      outfile,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
    })
    const caller = spawn(process.execPath, [outfile, url], { stdio: ['ignore', 'inherit', 'inherit'] })
    callers.push(caller)
    await once(caller, 'spawn')
    return caller
  }

  const active = (id: string) =>
    until(async () => (await runner.session(id)).state === 'active', `session ${id} to be active`)

  it('is noticed within half a minute, and its session ends', async () => {
    const webrtc = (await runner.start()).sessionId ?? ''
    const { wsUrl, sessionId: websocket = '' } = await runner.start({ transport: 'websocket' })
    const [killed, frozen] = await Promise.all([
      call('webrtc', WEBRTC_CALLER, `${runner.url}/sessions/${webrtc}/api/offer`),
      call('websocket', WEBSOCKET_CALLER, `${wsUrl}?sessionId=${websocket}`),
    ])
    await Promise.all([active(webrtc), active(websocket)])
    killed.kill('SIGKILL')
    frozen.kill('SIGSTOP')
    const [first, second] = await Promise.all([runner.ended(webrtc, 30_000), runner.ended(websocket, 30_000)])
    expect(first.outcome).toMatchObject({ result: 'ok', cause: 'client_lost' })
    expect(second.outcome).toMatchObject({ result: 'ok', cause: 'client_lost' })
    expect(runner.runner.sessions).toBe(0)
  }, 90_000)
})
