import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build, type Plugin } from 'esbuild'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, MICROPHONE_HERTZ, TestBrowser } from '../testing/chromium.ts'
import type { PublishedClientPage } from '../testing/published-client.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'

interface BrowserGlobals {
  readonly published: PublishedClientPage
  readonly heardHertz: () => number | undefined
}

describe.skipIf(CHROMIUM === undefined)('the published clients in a browser', () => {
  let runner: RunnerFixture
  let browser: TestBrowser
  let site: Server
  let page: Page

  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO)
    site = await serve(await bundle())
    browser = await TestBrowser.launch()
    const context = await browser.context()
    page = await context.newPage()
  })
  afterAll(async () => {
    await browser.close()
    site.close()
    await runner.close()
  })

  /** Another port is another origin, so this is how an application of somebody else reaches the runner. */
  async function open(): Promise<void> {
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`)
  }

  const events = () => page.evaluate(() => (globalThis as unknown as BrowserGlobals).published.events)

  async function event(type: string): Promise<unknown> {
    const found = await until(async () => (await events()).find((entry) => entry.type === type), type)
    return found.data
  }

  async function expectEcho(): Promise<void> {
    const hertz = await until(
      async () => {
        const heard = await page.evaluate(() => (globalThis as unknown as BrowserGlobals).heardHertz())
        return heard !== undefined && Math.abs(heard - MICROPHONE_HERTZ) < 25 ? heard : undefined
      },
      'the browser to hear its own microphone',
      30_000,
    )
    expect(hertz).toBeGreaterThan(0)
  }

  it.each(['webrtc', 'websocket'] as const)(
    'connect unmodified over %s, hear themselves, ask and are answered',
    async (transport) => {
      await open()
      await page.evaluate(
        ([kind, url]) =>
          (globalThis as unknown as BrowserGlobals).published.connect(kind, url, { from: 'published' }),
        [transport, runner.url] as const,
      )
      expect(await event('botReady')).toMatchObject({ version: expect.stringMatching(/^2\./) })
      await expectEcho()
      const answer = await page.evaluate(() =>
        (globalThis as unknown as BrowserGlobals).published.request('ping', { number: 7 }),
      )
      expect(answer).toEqual({ number: 7 })
      await page.evaluate(() => (globalThis as unknown as BrowserGlobals).published.sendText('hello bot'))
      expect(JSON.stringify(await event('botOutput'))).toContain('hello bot')
      const session = (await (await runner.request('/sessions')).json()) as {
        sessions: { sessionId: string }[]
      }
      const id = session.sessions[0]?.sessionId ?? ''
      expect((await runner.session(id)).state).toBe('active')
      await page.evaluate(() => (globalThis as unknown as BrowserGlobals).published.disconnect())
      expect((await runner.ended(id)).outcome).toMatchObject({ cause: 'client_left' })
      expect((await events()).filter((entry) => entry.type === 'error')).toEqual([])
    },
    60_000,
  )

  it('come back on a new peer connection, to the same bot', async () => {
    await open()
    await page.evaluate(
      (url) => (globalThis as unknown as BrowserGlobals).published.connect('webrtc', url, {}),
      runner.url,
    )
    const { sessions } = (await (await runner.request('/sessions')).json()) as {
      sessions: { sessionId: string }[]
    }
    const id = sessions[0]?.sessionId ?? ''
    await page.evaluate(() => (globalThis as unknown as BrowserGlobals).published.reconnect())
    const answer = await until(
      () =>
        page.evaluate(() =>
          (globalThis as unknown as BrowserGlobals).published.request('again', [1]).catch(() => undefined),
        ),
      'an answer over the new connection',
    )
    expect(answer).toEqual([1])
    const started = runner.log.lines.filter((line) => line.sessionId === id && line.msg === 'bot started')
    expect(started).toHaveLength(1)
    await page.evaluate(() => (globalThis as unknown as BrowserGlobals).published.disconnect())
    expect((await runner.ended(id)).outcome?.cause).toBe('client_left')
  }, 60_000)

  it.each(['webrtc', 'websocket'] as const)(
    'hear why over %s when the bot dies',
    async (transport) => {
      await open()
      await page.evaluate(
        ([kind, url]) => (globalThis as unknown as BrowserGlobals).published.connect(kind, url, {}),
        [transport, runner.url] as const,
      )
      const { sessions } = (await (await runner.request('/sessions')).json()) as {
        sessions: { sessionId: string }[]
      }
      const { childrenOf } = await import('../testing/processes.ts')
      for (const pid of childrenOf(process.pid, 'guest/main.js')) process.kill(pid, 'SIGKILL')
      expect(JSON.stringify(await event('error'))).toContain('SIGKILL')
      await event('disconnected')
      expect((await runner.ended(sessions[0]?.sessionId ?? '')).outcome?.cause).toBe('bot_exited')
    },
    60_000,
  )
})

/** The media manager that needs this package is not used, and it would load code from elsewhere. */
const withoutDaily: Plugin = {
  name: 'without-daily',
  setup(bundler) {
    bundler.onResolve({ filter: /^@daily-co\// }, ({ path }) => ({ path, namespace: 'empty' }))
    bundler.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export default {}' }))
  },
}

async function bundle(): Promise<string> {
  const result = await build({
    entryPoints: [`${import.meta.dirname}/../testing/published-client.ts`],
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
    plugins: [withoutDaily],
  })
  return result.outputFiles[0]?.text ?? ''
}

async function serve(script: string): Promise<Server> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/client.js'
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><body><script src="/client.js"></script></body>')
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  return server
}
