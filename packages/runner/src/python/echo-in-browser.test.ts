import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, MICROPHONE_HERTZ, TestBrowser } from '../testing/chromium.ts'
import { type PublishedGlobals, PublishedSite } from '../testing/published-site.ts'
import { PYTHON_ECHO, pythonProcesses } from '../testing/python-runner.ts'
import { RunnerFixture, until } from '../testing/runner-fixture.ts'

/** Inside of the page. */
declare const published: PublishedGlobals['published']
declare const heardHertz: PublishedGlobals['heardHertz']

describe.skipIf(CHROMIUM === undefined)('the Python echo bot and the published clients in a browser', () => {
  let runner: RunnerFixture
  let browser: TestBrowser
  let site: PublishedSite
  let page: Page

  beforeAll(async () => {
    ;[runner, browser, site] = await Promise.all([
      RunnerFixture.start(PYTHON_ECHO),
      TestBrowser.launch(),
      PublishedSite.open(),
    ])
    page = await (await browser.context()).newPage()
  })
  afterAll(async () => {
    await browser.close()
    site.close()
    await runner.close()
    expect(pythonProcesses()).toEqual([])
  })

  const events = () => page.evaluate(() => published.events)
  const event = (type: string) =>
    until(async () => (await events()).find((entry) => entry.type === type), `the event ${type}`)

  it.each(['webrtc', 'websocket'] as const)(
    'sound, typed text, requests and keys over %s',
    async (transport) => {
      await page.goto(site.url)
      await page.evaluate(([kind, url]) => published.connect(kind, url, {}), [transport, runner.url] as const)
      expect((await event('botReady')).data).toMatchObject({ version: expect.stringMatching(/^2\./) })
      await until(async () => {
        const heard = await page.evaluate(() => heardHertz())
        return heard !== undefined && Math.abs(heard - MICROPHONE_HERTZ) < 25
      }, 'the browser to hear its own microphone')
      await page.evaluate(() => published.sendText('grüß dich 👋'))
      expect(JSON.stringify((await event('botOutput')).data)).toContain('grüß dich 👋')
      // There are no keys towards a browser; the bot, which sends them back, goes on.
      await page.evaluate(() => published.press('5'))
      expect(await page.evaluate(() => published.request('ask', { deep: [1, null, 'ü'] }))).toEqual({
        deep: [1, null, 'ü'],
      })
      const { sessions } = (await (await runner.request('/sessions')).json()) as {
        sessions: { sessionId: string; state: string }[]
      }
      const [session] = sessions.filter(({ state }) => state === 'active')
      await page.evaluate(() => published.disconnect())
      const { outcome } = await runner.ended(session?.sessionId ?? '')
      expect(outcome).toMatchObject({ result: 'ok', cause: 'client_left' })
      expect((await events()).filter(({ type }) => type === 'error')).toEqual([])
    },
  )
})
