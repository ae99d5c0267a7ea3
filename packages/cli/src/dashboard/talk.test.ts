import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { AgentDetails, KeyListResponse, SessionRecord } from '@botcli/protocol/cloud'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, MICROPHONE_HERTZ } from '../../../runner/src/testing/chromium.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { ownProgram } from '../own-program.ts'
import { DASHBOARD, DashboardHouse } from '../testing/dashboard-house.ts'

const ECHO = resolve(import.meta.dirname, '../../../../examples/echo/bot.ts')
const START_LIMIT_MS = 60_000

declare const heardHertz: () => number | undefined

describe.skipIf(CHROMIUM === undefined || !existsSync(DASHBOARD))('talking to an agent', () => {
  let house: DashboardHouse
  beforeAll(async () => {
    const config = { builds: { builders: ['native'] } }
    house = await DashboardHouse.with({ builders: 'machine', runner: ownProgram(), config })
    const { build } = await house.cloud.build({
      Dockerfile: 'FROM node\nCOPY bot.ts ./\nCMD ["botcli", "run", "bot.ts"]\n',
      'bot.ts': await readFile(ECHO, 'utf8'),
    })
    expect(await house.cloud.ended(build.id)).toMatchObject({ status: 'success' })
    const autoScaling = { minAgents: 1, maxAgents: 1 }
    await house.cloud.send('POST', '/v1/agents', { serviceName: 'echo', buildId: build.id, autoScaling })
    await until(
      async () => {
        const { ready, deployment } = (await house.cloud.request('/v1/agents/echo')).body as AgentDetails
        if (deployment.failure) throw new Error(deployment.failure.detail ?? deployment.failure.message)
        return ready
      },
      'the agent to be ready',
      START_LIMIT_MS,
    )
  }, 2 * START_LIMIT_MS)
  afterAll(() => house.close())

  const state = (page: Page) => page.getByTestId('state').getAttribute('data-state')
  const says = (page: Page, testId: string, words: string | RegExp) =>
    until(async () => {
      const text = (await page.getByTestId(testId).allTextContents()).join()
      return typeof words === 'string' ? text.includes(words) : words.test(text)
    }, `${testId} to say ${words}`)

  /** The page that the button opens. */
  async function talkFrom(page: Page): Promise<Page> {
    const [talk] = await Promise.all([page.context().waitForEvent('page'), page.getByTestId('talk').click()])
    await talk.getByTestId('connect').waitFor()
    return talk
  }

  async function connect(page: Page, transport: string): Promise<string> {
    await page.getByTestId('transport').selectOption(transport)
    await page.getByTestId('connect').click()
    await until(async () => (await state(page)) === 'ready', 'the page to be connected', START_LIMIT_MS)
    return (await page.getByTestId('session-id').textContent()) ?? ''
  }

  async function record(id: string): Promise<SessionRecord> {
    return until(async () => {
      const session = (await house.cloud.request(`/v1/agents/echo/sessions/${id}`)).body as SessionRecord
      return session.state === 'ended' ? session : undefined
    }, 'the session to be over')
  }

  async function dashboardKeys(): Promise<KeyListResponse['keys']> {
    const { keys } = (await house.cloud.request('/v1/keys')).body as KeyListResponse
    return keys.filter(({ name }) => name === 'Dashboard')
  }

  it.each(['webrtc', 'websocket'])(
    'opens from the dashboard and talks over %s: heard, typed, and nothing from elsewhere',
    async (transport) => {
      const { page, faults } = await house.page('#/agents/echo')
      const talk = await talkFrom(page)
      const refused: string[] = []
      talk.on('console', (message) => {
        if (/Content.Security.Policy/i.test(message.text())) refused.push(message.text())
      })
      talk.on('request', (request) => {
        if (!request.url().startsWith(house.line.url)) refused.push(request.url())
      })
      expect(talk.url()).toBe(`${house.line.url}/talk/?agent=echo`)
      expect(await talk.getByRole('heading', { level: 1 }).textContent()).toBe('Talk to echo')
      const id = await connect(talk, transport)
      await until(async () => {
        const hertz = await talk.evaluate(() => heardHertz())
        return hertz !== undefined && Math.abs(hertz - MICROPHONE_HERTZ) < 25
      }, 'the page to play its own microphone')
      await talk.getByTestId('text').fill('typed words')
      await talk.getByTestId('send').click()
      await until(
        async () =>
          ((await talk.getByTestId('transcript').textContent()) ?? '').match(/typed words/g)?.length === 2,
        'what was typed and its echo',
      )
      await talk.getByTestId('disconnect').click()
      expect(await record(id)).toMatchObject({ transport, outcome: { result: 'ok', cause: 'client_left' } })
      expect([...faults, ...refused]).toEqual([])
      await page.context().close()
    },
    2 * START_LIMIT_MS,
  )

  it.each(['webrtc', 'websocket'])(
    'says in words that all places are taken, and over %s that the session was stopped',
    async (transport) => {
      const { page } = await house.page('#/agents/echo')
      const talk = await talkFrom(page)
      const id = await connect(talk, transport)
      const other = await talkFrom(page)
      await other.getByTestId('connect').click()
      await says(other, 'error', /All places are taken\..*Try again in/)
      await page.goto(`${house.line.url}/#/agents/echo/sessions/${id}`)
      await page.getByTestId('stop').click()
      await page.getByTestId('yes').click()
      await says(talk, 'error', 'stopped')
      expect(await state(talk)).toBe('ended')
      await says(page, 'outcome', 'stopped')
      await page.context().close()
    },
    2 * START_LIMIT_MS,
  )

  it(
    'asks for a key when there is none, or it was revoked; the dashboard makes another one',
    async () => {
      const { page } = await house.page('#/agents/echo')
      const before = (await dashboardKeys()).length
      const talk = await talkFrom(page)
      const made = (await dashboardKeys()).find(({ revokedAt }) => revokedAt === null)
      expect(await dashboardKeys()).toHaveLength(before + 1)
      for (const { id } of await dashboardKeys())
        await house.cloud.request(`/v1/keys/${id}`, { method: 'DELETE' })
      await talk.getByTestId('connect').click()
      await talk.getByTestId('key-form').waitFor()
      expect(await talk.evaluate(() => sessionStorage.getItem('botcli-cloud-public-key'))).toBeNull()
      await talk.getByLabel('Public key').fill(house.cloud.keys.privateKey)
      await talk.keyboard.press('Enter')
      await says(talk, 'trouble', 'This is a private key')
      await talk.getByLabel('Public key').fill(house.cloud.keys.publicKey)
      await talk.keyboard.press('Enter')
      await connect(talk, 'websocket')
      await talk.getByTestId('disconnect').click()
      await talk.close()
      const again = await talkFrom(page)
      expect((await dashboardKeys()).filter(({ revokedAt }) => revokedAt === null)).toHaveLength(1)
      expect((await dashboardKeys()).at(-1)?.id).not.toBe(made?.id)
      await page.getByTestId('sign-out').click()
      await says(again, 'trouble', 'You were signed out in another tab.')
      expect(
        await again.evaluate(() => Object.keys(sessionStorage).filter((name) => /key/.test(name))),
      ).toEqual([])
      await page.context().close()
    },
    2 * START_LIMIT_MS,
  )
})
