import type { SessionView } from '@botcli/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, MICROPHONE_HERTZ, TestBrowser } from '../../packages/runner/src/testing/chromium.ts'
import { ECHO, RunnerFixture } from '../../packages/runner/src/testing/runner-fixture.ts'
import { clientConfiguration } from '../../packages/scaffold/src/testing/client-configuration.ts'
import { ClientPage } from './client-page.ts'
import { GeneratedClient, whyNoClients } from './generated-client.ts'

const skipped = await whyNoClients(CHROMIUM)
if (skipped === undefined) describe('generated clients', () => clients())
else {
  process.stdout.write(`suite clients: skipped: ${skipped}\n`)
  it.skip(`generated clients (${skipped})`)
}

const KINDS = [
  ['react', 'vite', 'VITE_BOT_URL'],
  ['react', 'nextjs', 'NEXT_PUBLIC_BOT_URL'],
  ['vanilla', 'vite', 'VITE_BOT_URL'],
] as const

const TRANSPORT_SETS = [
  ['webrtc'],
  ['websocket'],
  ['room'],
  ['webrtc', 'room'],
  ['websocket', 'room'],
  ['webrtc', 'websocket', 'room'],
] as const

function clients(): void {
  let browser: TestBrowser
  const open: { close(): Promise<void> }[] = []

  beforeAll(async () => {
    browser = await TestBrowser.launch()
  })
  afterAll(() => browser.close())
  afterEach(async () => {
    for (const thing of open.splice(0).reverse()) await thing.close()
  })

  it.each(KINDS)(
    '%s with %s installs, builds, lints and talks',
    async (framework, server, variable) => {
      const runner = await RunnerFixture.start(ECHO)
      open.push(runner)
      const client = await GeneratedClient.write(
        clientConfiguration({
          title: 'Ann’s <Bot>',
          clientFramework: framework,
          clientServer: server,
          transports: ['webrtc', 'websocket'],
          videoInput: true,
          videoOutput: true,
        }),
      )
      open.push(client)
      expect(await client.npm(['ci'])).not.toMatch(/EBADENGINE|deprecated/)
      await client.npm(['run', 'typecheck'])
      expect(await client.npm(['run', 'build'], { [variable]: runner.url })).not.toMatch(
        /warn(ing)?\b|\(!\)/i,
      )
      await client.npm(['run', 'lint'])
      expect(await client.changes()).toBe('')

      const context = await browser.context()
      open.push(context)
      const page = await ClientPage.open(context, await client.serve(server, 'built', {}))
      expect(await page.page.title()).toBe('Ann’s <Bot>')
      await talksOver(page, 'WebSocket', runner)
      await talksOver(page, 'WebRTC', runner)

      const dev = await ClientPage.open(
        context,
        await client.serve(server, 'dev', { [variable]: runner.url }),
      )
      await dev.connect()
      await dev.type('one')
      await dev.says(['You one', 'Bot one'])
      await dev.disconnect()
      expect(await client.changes()).toBe('')

      await runner.runner.close({ deadlineMs: 2000 })
      await page.page.getByRole('button', { name: 'Connect', exact: true }).click()
      expect(await page.problem()).toMatch(/^The bot’s server is not running\. Nothing answers at http/)
      await page.status('Not connected')
      await page.freesDevices()
      expect([...page.errors, ...dev.errors]).toEqual([])
    },
    200_000,
  )

  it.each(KINDS)('%s with %s has a lock file for every set of transports', async (framework, server) => {
    for (const transports of TRANSPORT_SETS) {
      const parts = { clientFramework: framework, clientServer: server, transports }
      const client = await GeneratedClient.write(clientConfiguration(parts))
      open.push(client)
      // Fails when the lock file and package.json do not agree.
      await client.npm(['ci', '--dry-run', '--ignore-scripts'])
    }
  })

  it.each(['react', 'vanilla'] as const)(
    '%s type-checks and lints with each transport alone',
    async (framework) => {
      const full = clientConfiguration({ clientFramework: framework })
      const installed = await GeneratedClient.write({ ...full, transports: ['webrtc', 'websocket', 'room'] })
      open.push(installed)
      await installed.npm(['ci'])
      for (const transport of ['webrtc', 'websocket', 'room'] as const) {
        const client = await GeneratedClient.write({ ...full, transports: [transport] })
        open.push(client)
        await client.borrowPackages(installed)
        await client.npm(['run', 'typecheck'])
        await client.npm(['run', 'lint'])
      }
    },
  )
}

/** Conversations over one transport: two after each other, one that nobody waits for, and one that is stopped. */
async function talksOver(page: ClientPage, transport: string, runner: RunnerFixture): Promise<void> {
  await page.choose(transport)
  for (const word of ['one', 'two']) {
    await page.connect()
    await page.type(word)
    await page.says([`You ${word}`, `Bot ${word}`])
    await page.type('again')
    await page.says([`You ${word}`, `Bot ${word}`, 'You again', 'Bot again'])
    await page.showsLevel()
    await page.hears(MICROPHONE_HERTZ)
    await page.disconnect()
    await page.freesDevices()
    expect(await page.audioElements()).toBe(1)
  }
  await page.cancel()
  await page.connect()
  const { sessions } = (await (await runner.request('/sessions')).json()) as {
    sessions: readonly SessionView[]
  }
  for (const { sessionId, state } of sessions) {
    if (state !== 'ended') await runner.request(`/sessions/${sessionId}`, { method: 'DELETE' })
  }
  expect(await page.problem()).toContain('stopped')
  await page.status('Not connected')
  await page.freesDevices()
}
