import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, MICROPHONE_HERTZ, TestBrowser } from '../testing/chromium.ts'
import { type PublishedGlobals as BrowserGlobals, PublishedSite } from '../testing/published-site.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'

describe.skipIf(CHROMIUM === undefined)('the published clients in a browser', () => {
  let runner: RunnerFixture
  let browser: TestBrowser
  let site: PublishedSite
  let page: Page

  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO)
    site = await PublishedSite.open()
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
    await page.goto(site.url)
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
