import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunnerConfig } from '../config.ts'
import { CHROMIUM, TestBrowser } from '../testing/chromium.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'

const PAGE = resolve(import.meta.dirname, '../../../client/dist')

describe.skipIf(CHROMIUM === undefined || !existsSync(PAGE))('the other ways on the page', () => {
  let browser: TestBrowser
  beforeAll(async () => {
    browser = await TestBrowser.launch()
  })
  afterAll(() => browser.close())

  async function withPage(
    config: Partial<RunnerConfig>,
    look: (page: Page, runner: RunnerFixture) => Promise<void>,
  ): Promise<void> {
    const runner = await RunnerFixture.start(ECHO, { pageDir: PAGE, ...config })
    const context = await browser.context()
    try {
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      const page = await context.newPage()
      await page.goto(`${runner.url}/client/`)
      await look(page, runner)
    } finally {
      await context.close()
      await runner.close()
    }
  }

  const isOpen = (page: Page, testId: string) =>
    page.getByTestId(testId).evaluate((element) => element.matches('[open], :has(> [open])'))

  it('opens by keyboard, and copies what to call', async () => {
    await withPage({}, async (page, runner) => {
      expect(await isOpen(page, 'ways')).toBe(false)
      await page.getByTestId('ways').locator('> summary').focus()
      await page.keyboard.press('Enter')
      expect(await isOpen(page, 'ways')).toBe(true)
      await page.getByTestId('way-telephony_b').locator('summary').focus()
      await page.keyboard.press('Space')
      await page.getByRole('button', { name: 'Copy the command for Telnyx' }).press('Enter')
      await until(
        async () => (await page.getByTestId('way-telephony_b').textContent())?.includes('Copied'),
        'the page to say that it copied',
      )
      const copied = await page.evaluate(() => navigator.clipboard.readText())
      expect(copied).toBe(`botcli call ${runner.url} --as telephony_b`)
    })
  }, 60_000)

  it('says exactly what a room needs', async () => {
    await withPage({}, async (page) => {
      const room = page.getByTestId('way-room')
      await page.getByTestId('ways').locator('> summary').click()
      await room.locator('summary').click()
      expect(await room.textContent()).toMatch(/Needs ROOM_API_KEY.*Set ROOM_API_KEY in the environment/)
      expect(await room.getByRole('link').count()).toBe(0)
    })
  }, 60_000)

  it('opens a room in a tab of its own when there can be one', async () => {
    await withPage({ room: { apiKey: 'very-secret-key' } }, async (page, runner) => {
      await page.getByTestId('ways').locator('> summary').click()
      await page.getByTestId('way-room').locator('summary').click()
      const link = page.getByRole('link', { name: 'Open a fresh room in a new tab' })
      expect(await link.getAttribute('href')).toBe(`${runner.url}/daily`)
      expect(await link.getAttribute('target')).toBe('_blank')
      expect(await page.content()).not.toContain('very-secret-key')
    })
  }, 60_000)

  it('are in plain sight, and nothing offers to connect, where a page cannot talk', async () => {
    await withPage({ transport: 'telephony_d' }, async (page) => {
      await until(() => isOpen(page, 'ways'), 'the panel to be open')
      expect(await isOpen(page, 'way-telephony_d')).toBe(true)
      expect(await page.getByTestId('connect').isDisabled()).toBe(true)
    })
  }, 60_000)

  it('fit on a phone', async () => {
    await withPage({ room: { apiKey: 'key' }, dialin: true }, async (page) => {
      await page.setViewportSize({ width: 320, height: 640 })
      await page.getByTestId('ways').locator('> summary').click()
      for (const id of ['room', 'telephony_a', 'dialin']) {
        await page.getByTestId(`way-${id}`).locator('summary').click()
      }
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(tooWide).toBeLessThanOrEqual(0)
    })
  }, 60_000)
})
