import type { SessionView } from '@botcli/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

/** For all steps of one client on a busy machine. */
const LIMIT_MS = 300_000

const KINDS = [
  ['react', 'nextjs', 'NEXT_PUBLIC_BOT_URL'],
  ['react', 'vite', 'VITE_BOT_URL'],
  ['vanilla', 'vite', 'VITE_BOT_URL'],
] as const

/** The sets of transports that the other tests do not install. */
const TRANSPORT_SETS = [
  ['webrtc'],
  ['websocket'],
  ['room'],
  ['webrtc', 'room'],
  ['websocket', 'room'],
] as const

function clients(): void {
  let browser: TestBrowser

  beforeAll(async () => {
    browser = await TestBrowser.launch()
  })
  afterAll(() => browser.close())

  // One of them builds while another one talks.
  it.concurrent.for(KINDS)(
    '%s with %s installs, builds, lints and talks',
    { timeout: LIMIT_MS },
    async ([framework, server, variable], { onTestFinished }) => {
      const runner = await RunnerFixture.start(ECHO)
      onTestFinished(() => runner.close())
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
      onTestFinished(() => client.close())
      expect(await client.npm(['ci'])).not.toMatch(/EBADENGINE|deprecated/)
      // The other builds begin with it.
      if (server === 'nextjs') await client.npm(['run', 'typecheck'])
      expect(await client.npm(['run', 'build'], { [variable]: runner.url })).not.toMatch(
        /warn(ing)?\b|\(!\)/i,
      )
      await client.npm(['run', 'lint'])
      expect(await client.changes()).toBe('')

      const context = await browser.context()
      onTestFinished(() => context.close())
      const page = await ClientPage.open(context, await client.serve(server, 'built', {}))
      expect(await page.page.title()).toBe('Ann’s <Bot>')
      await talksOver(page, 'WebSocket', runner)
      await talksOver(page, 'WebRTC', runner)
      await talksWithoutDevices(page)
      await seesAndMutes(page)

      const dev = await ClientPage.open(
        context,
        await client.serve(server, 'dev', { [variable]: runner.url }),
      )
      await dev.connect()
      await dev.type('one')
      await dev.says(['You one', 'Bot one'])
      await dev.disconnect()
      expect(await client.changes()).toBe('')

      await page.choose('WebSocket')
      await page.connect()
      await runner.runner.close({ deadlineMs: 2000 })
      expect(await page.problem()).toMatch(/^The bot ended the conversation\. .*shutting down/)
      await page.status('Not connected')
      await page.press('Connect')
      expect(await page.problem()).toMatch(/^The bot’s server is not running\. Nothing answers at http/)
      await page.status('Not connected')
      await page.freesDevices()
      expect([...page.errors, ...dev.errors]).toEqual([])
    },
  )

  it.for(KINDS)('%s with %s has a lock file for every set of transports', async ([framework, server]) => {
    await Promise.all(
      TRANSPORT_SETS.map(async (transports) => {
        const parts = { clientFramework: framework, clientServer: server, transports }
        const client = await GeneratedClient.write(clientConfiguration(parts))
        // Fails when the lock file and package.json do not agree.
        await client.npm(['ci', '--dry-run', '--ignore-scripts'])
        await client.close()
      }),
    )
  })

  it.concurrent.for(['react', 'vanilla'] as const)(
    '%s builds with all transports, type-checks and lints with each alone',
    { timeout: LIMIT_MS },
    async (framework, { onTestFinished }) => {
      const full = clientConfiguration({ clientFramework: framework })
      const installed = await GeneratedClient.write({ ...full, transports: ['webrtc', 'websocket', 'room'] })
      onTestFinished(() => installed.close())
      await installed.npm(['ci'])
      await installed.npm(['run', 'build'])
      for (const transport of ['webrtc', 'websocket', 'room'] as const) {
        const client = await GeneratedClient.write({ ...full, transports: [transport] })
        onTestFinished(() => client.close())
        await client.borrowPackages(installed)
        await Promise.all([client.npm(['run', 'typecheck']), client.npm(['run', 'lint'])])
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
  expect(await page.problem()).toMatch(/^The bot ended the conversation\. .*stopped/)
  await page.status('Not connected')
  await page.freesDevices()
}

/** A conversation of somebody who lets the page have neither microphone nor camera. */
async function talksWithoutDevices(page: ClientPage): Promise<void> {
  await page.refuseDevices(true)
  await page.connect()
  expect(await page.problem()).toMatch(
    /^Your microphone and camera cannot be used\. .* You can still type\.$/,
  )
  expect(await page.devices()).toEqual({ Mute: false, 'Camera off': false })
  await page.type('one')
  await page.says(['You one', 'Bot one'])
  await page.disconnect()
  await page.refuseDevices(false)
}

/** Buttons say what they do next, and begin anew with each conversation. */
async function seesAndMutes(page: ClientPage): Promise<void> {
  await page.connect()
  expect(await page.devices()).toEqual({ Mute: true, 'Camera off': true })
  await page.press('Mute')
  await page.press('Camera off')
  expect(await page.devices()).toEqual({ Unmute: true, 'Camera on': true })
  await page.disconnect()
  expect(await page.devices()).toEqual({ Mute: false, 'Camera off': false })
}
