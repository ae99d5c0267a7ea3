import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, MICROPHONE_HERTZ, TestBrowser } from '../testing/chromium.ts'
import { childrenOf } from '../testing/processes.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'

const PAGE = resolve(import.meta.dirname, '../../../client/dist')

describe.skipIf(CHROMIUM === undefined || !existsSync(PAGE))('the page at /client', () => {
  let browser: TestBrowser
  let runner: RunnerFixture
  beforeAll(async () => {
    browser = await TestBrowser.launch()
    runner = await RunnerFixture.start(ECHO, { pageDir: PAGE })
  })
  afterAll(async () => {
    await browser.close()
    await runner.close()
  })

  /** The page, and every address outside of the runner that it asked for. */
  async function open(url: string): Promise<{ page: Page; strangers: string[] }> {
    const page = await (await browser.context()).newPage()
    const strangers: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(new URL(url).origin) && !/^(blob|data):/.test(request.url())) {
        strangers.push(request.url())
      }
    })
    await page.goto(url)
    return { page, strangers }
  }

  const state = (page: Page) => page.getByTestId('state').getAttribute('data-state')

  async function connect(page: Page, transport: string): Promise<string> {
    await page.getByTestId('transport').selectOption(transport)
    await page.getByTestId('connect').click()
    await until(async () => (await state(page)) === 'ready', 'the page to be connected', 30_000)
    const shown = (await page.getByTestId('session-id').textContent()) ?? ''
    const id = (await page.getByTestId('session-id').getAttribute('title')) ?? shown
    const { sessions } = (await (await runner.request('/sessions')).json()) as {
      sessions: { sessionId: string }[]
    }
    const session = sessions.find(({ sessionId }) => (id + shown).includes(sessionId.slice(0, 8)))
    if (session === undefined) throw new Error(`the page shows ${shown}, which is no session`)
    return session.sessionId
  }

  it.each(['webrtc', 'websocket'])(
    'talks over %s: heard, measured, typed, told, and nothing from elsewhere',
    async (transport) => {
      const { page, strangers } = await open(`${runner.url}/`)
      expect(page.url()).toBe(`${runner.url}/client/`)
      const sessionId = await connect(page, transport)
      await until(async () => {
        const hertz = await page.evaluate(() =>
          (globalThis as unknown as { heardHertz(): number | undefined }).heardHertz(),
        )
        return hertz !== undefined && Math.abs(hertz - MICROPHONE_HERTZ) < 25
      }, 'the page to play its own microphone')
      for (const who of ['user', 'bot']) {
        await until(async () => {
          const level = await page.getByTestId(`level-${who}`).getAttribute('data-level')
          return Number(level) > 0
        }, `a level of the ${who}`)
      }
      await until(
        async () => /\d ms/.test((await page.getByTestId('latency').textContent()) ?? ''),
        'a latency',
      )
      await page.getByTestId('text').fill('typed words')
      await page.getByTestId('send').click()
      await until(
        async () =>
          ((await page.getByTestId('transcript').textContent()) ?? '').match(/typed words/g)?.length === 2,
        'what was typed and its echo in the transcript',
      )
      expect(await page.getByTestId('events').textContent()).toContain('bot-ready')
      await page.getByTestId('mute').click()
      await page.getByTestId('disconnect').click()
      expect((await runner.ended(sessionId)).outcome?.cause).toBe('client_left')
      expect(await state(page)).toMatch(/idle|ended/)
      expect(strangers).toEqual([])
      await page.context().close()
    },
    60_000,
  )

  it.each(['webrtc', 'websocket'])(
    'says in words over %s what went wrong',
    async (transport) => {
      const { page } = await open(`${runner.url}/client/`)
      await connect(page, transport)
      for (const pid of childrenOf(process.pid, 'guest/main.js')) process.kill(pid, 'SIGKILL')
      await until(async () => (await state(page)) === 'failed', 'the page to notice')
      expect(await page.getByTestId('error').textContent()).toContain('SIGKILL')
      await page.context().close()
    },
    60_000,
  )

  it.each(['webrtc', 'websocket'])(
    'shows a shutdown over %s as an end, not as a failure',
    async (transport) => {
      const other = await RunnerFixture.start(ECHO, { pageDir: PAGE })
      const { page } = await open(`${other.url}/client/`)
      await page.getByTestId('transport').selectOption(transport)
      await page.getByTestId('connect').click()
      await until(async () => (await state(page)) === 'ready', 'the page to be connected')
      await other.close()
      await until(async () => (await state(page)) === 'ended', 'the page to notice')
      expect(await page.getByTestId('error').textContent()).toContain('shutting down')
      await page.context().close()
    },
  )

  it('works with the keyboard alone', async () => {
    const { page } = await open(`${runner.url}/client/`)
    await page.getByTestId('connect').focus()
    await page.keyboard.press('Enter')
    await until(async () => (await state(page)) === 'ready', 'the page to be connected')
    await page.getByTestId('text').focus()
    await page.keyboard.type('by key')
    await page.keyboard.press('Enter')
    await until(
      async () => (await page.getByTestId('transcript').textContent())?.includes('by key'),
      'the words',
    )
    await page.context().close()
  }, 60_000)

  it('says that its own origin is not allowed, and works when it is', async () => {
    const closed = await RunnerFixture.start(ECHO, { pageDir: PAGE, allowedOrigins: ['https://a.example'] })
    const { page } = await open(`${closed.url}/client/`)
    await until(
      async () => (await page.getByTestId('error').textContent())?.includes('allowed origins'),
      'the page to say so',
    )
    await page.context().close()
    await closed.close()

    const { host, port } = new URL(closed.url)
    const listed = await RunnerFixture.start(ECHO, {
      pageDir: PAGE,
      port: Number(port),
      allowedOrigins: [`http://${host}`],
    })
    const { page: allowed } = await open(`${listed.url}/client/`)
    await allowed.getByTestId('connect').click()
    await until(async () => (await state(allowed)) === 'ready', 'the page to be connected')
    await allowed.context().close()
    await listed.close()
  }, 60_000)
})
