import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AgentHouse } from '../../../cloud/src/testing/agent-house.ts'
import { until } from '../../../cloud/src/testing/cloud-fixture.ts'
import { ScriptedEngine } from '../../../cloud/src/testing/scripted-engine.ts'
import { CHROMIUM } from '../../../runner/src/testing/chromium.ts'
import { DASHBOARD, DashboardHouse } from '../testing/dashboard-house.ts'

const TRACEBACK = 'Traceback (most recent call last):\n  File "bot.py", line 1\nModuleNotFoundError: nope\n'

describe.skipIf(CHROMIUM === undefined || !existsSync(DASHBOARD))('agents on the dashboard', () => {
  let house: DashboardHouse
  let agents: AgentHouse
  beforeAll(async () => {
    const engine = await ScriptedEngine.open()
    house = await DashboardHouse.with({ engine, config: { agents: { idleSeconds: 0 } } })
    agents = AgentHouse.of(house.cloud, engine)
  })
  afterAll(async () => {
    await house.close()
    await agents.engine.end()
  })

  const says = (page: Page, testId: string, words: string | RegExp) =>
    until(async () => {
      const text = (await page.getByTestId(testId).allTextContents()).join('\n')
      return typeof words === 'string' ? text.includes(words) : words.test(text)
    }, `${testId} to say ${words}`)
  const rowOf = (page: Page, testId: string, words: string) =>
    page.getByTestId(testId).filter({ hasText: words })

  it('lists them with their states and sessions, and shows by itself what becomes of them', async () => {
    await agents.deployed('calm')
    const { id, instance } = await agents.session('calm')
    agents.engine.scripts.set('registry.test/slow:1', { waits: true })
    await agents.create('slow', { image: 'registry.test/slow:1' })
    agents.engine.scripts.set('registry.test/broken:1', { fails: { code: 1, output: TRACEBACK } })
    await agents.create('broken', { image: 'registry.test/broken:1' })
    const { page, faults } = await house.page('')
    await says(page, 'agents', /broken.*Failed/)
    expect(await rowOf(page, 'agent-row', 'calm').textContent()).toMatch(/^calmReady1 of 50\d#1/)
    expect(await rowOf(page, 'agent-row', 'slow').textContent()).toContain('Starting')
    const slow = await until(
      () => agents.engine.running.find(({ spec }) => spec.settings.agentName === 'slow'),
      'the instance',
    )
    slow.becomeReady()
    await until(
      async () => (await rowOf(page, 'agent-row', 'slow').textContent())?.includes('Ready'),
      'slow to be ready',
    )
    instance.endSession(id)
    await until(
      async () => (await rowOf(page, 'agent-row', 'calm').textContent())?.includes('0 of 50'),
      'the session to be over',
    )
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('shows why a deployment failed with the words of the bot, and rolls back after a question', async () => {
    await agents.deployed('shop')
    await agents.update('shop', { image: 'registry.test/shop:2' })
    await agents.phase('shop', 'Active')
    agents.engine.scripts.set('registry.test/shop:3', { fails: { code: 1, output: TRACEBACK } })
    await agents.update('shop', { image: 'registry.test/shop:3' })
    const { page, faults } = await house.page('#/agents/shop')
    await says(page, 'failure', 'The bot could not be started')
    await says(page, 'failure', 'The deployment before it still takes sessions.')
    expect(await page.getByTestId('failure').getByTestId('traceback').textContent()).toContain(
      'ModuleNotFoundError: nope',
    )
    expect(await page.locator('h1 ~ .badge').textContent()).toBe('Ready, last deployment failed')
    expect(await page.getByTestId('deployment-row').allTextContents()).toEqual([
      expect.stringMatching(/^#3FailedUpdate.*exit code 1/s),
      expect.stringMatching(/^#2ActiveUpdateregistry\.test\/shop:2/),
      expect.stringMatching(/^#1(?:Retired|Finishing its sessions)First deploymentregistry\.test\/bot:1/),
    ])
    await page.getByRole('button', { name: 'Roll back to #1' }).click()
    await page.getByRole('button', { name: 'Never mind' }).click()
    await page.getByRole('button', { name: 'Roll back to #1' }).click()
    await page.getByTestId('yes').click()
    await says(page, 'deployments', /#4ActiveRollback to #1registry\.test\/bot:1/)
    await until(async () => (await page.getByTestId('failure').count()) === 0, 'the failure to be gone')
    expect((await agents.agent('shop')).deployment).toMatchObject({
      number: 4,
      reason: 'rollback',
      image: 'registry.test/bot:1',
    })
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('changes how many instances there are, and says what is wrong with a wish', async () => {
    await agents.deployed('scaled', { autoScaling: { minAgents: 0, maxAgents: 3 } })
    const { page } = await house.page('#/agents/scaled')
    const save = page.getByTestId('scaling').getByRole('button', { name: 'Save' })
    await page.getByLabel('Always').fill('5')
    await save.click()
    await says(page, 'trouble', 'more instances always than at most')
    await page.getByLabel('Always').fill('2')
    await page.getByLabel('At most').fill('4')
    await save.click()
    await says(page, 'facts', '0 of 4')
    await until(async () => (await page.getByTestId('instance-row').count()) === 2, 'two instances')
    expect((await agents.agent('scaled')).autoScaling).toEqual({ minReplicas: 2, maxReplicas: 4 })
    await page.context().close()
  })

  it('lists sessions with their outcomes, loads older ones, and stops one', async () => {
    await agents.deployed('desk', { sessionsPerInstance: 100 })
    for (let count = 0; count < 22; count += 1) {
      const { id, instance } = await agents.session('desk')
      instance.connectSession(id)
      instance.endSession(id, count === 21 ? 'bot_failed' : 'client_left')
    }
    const { id, instance } = await agents.session('desk', { transport: 'websocket' })
    instance.connectSession(id)
    instance.say('hello from the bot', id)
    const { page, faults } = await house.page('#/agents/desk/sessions')
    const rows = page.getByTestId('session-row')
    await until(async () => (await rows.allTextContents()).join().includes('Running'), 'the session to run')
    expect(await rows.count()).toBe(20)
    expect(await rows.nth(1).textContent()).toContain('Bot failed')
    await page.getByTestId('more-sessions').click()
    await until(async () => (await rows.count()) === 23, 'all sessions')
    expect(await rows.last().textContent()).toContain('Caller left')
    await page.getByRole('link', { name: 'Running' }).click()
    await until(async () => (await rows.count()) === 1, 'only the one that runs')
    await rows.first().getByRole('link').click()
    await says(page, 'log', 'hello from the bot')
    await says(page, 'facts', /WebSocket.*Deployment#1/)
    instance.say('and one more word', id)
    await says(page, 'log', 'and one more word')
    await page.getByTestId('stop').click()
    await page.getByRole('button', { name: 'Let it go on' }).click()
    await page.getByTestId('stop').click()
    await page.getByTestId('yes').click()
    await says(page, 'outcome', 'because of stopped')
    await says(page, 'connection', 'Complete')
    expect(await page.locator('h1 ~ .badge').textContent()).toBe('Stopped')
    expect(await page.getByTestId('stop').count()).toBe(0)
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('follows the log over a cut connection, and filters it by source and words', async () => {
    await agents.deployed('talker', { autoScaling: { minAgents: 1, maxAgents: 2 } })
    const instance = agents.engine.running.find(({ spec }) => spec.settings.agentName === 'talker')
    const { page, faults } = await house.page('#/agents/talker/log')
    await says(page, 'log', 'Deployment 1 is active')
    instance?.say('Apples are <b>red</b>')
    await says(page, 'log', 'Apples are <b>red</b>')
    house.line.cut()
    instance?.say('bananas are yellow')
    await says(page, 'log', 'bananas are yellow')
    await page.getByLabel('Only entries with these words').fill('APPLES')
    await until(async () => (await page.getByTestId('entry').count()) === 1, 'only one entry')
    expect(await page.locator('mark').textContent()).toBe('Apples')
    expect(new URL(page.url()).hash).toBe('#/agents/talker/log?query=APPLES')
    await page.getByTestId('entry').getByRole('button').click()
    await says(page, 'selected-entry', /Run.*Apples are <b>red<\/b>/)
    await page.getByRole('button', { name: 'Close the entry' }).click()
    // What is typed is waited for; another choice meanwhile must not undo either.
    await page.getByLabel('Only entries with these words').fill('')
    await page.getByLabel('Source').selectOption('start')
    await until(async () => {
      const text = (await page.getByTestId('log').textContent()) ?? ''
      return text.includes('Deployment 1 is active') && !text.includes('are yellow')
    }, 'only what was said at the start')
    expect(new URL(page.url()).hash).toBe('#/agents/talker/log?source=start')
    await page.getByLabel('Level').selectOption('error')
    await says(page, 'log', 'Nothing fits these filters yet.')
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('deletes an agent after a question with its name', async () => {
    await agents.deployed('short-lived')
    const { page } = await house.page('#/agents/short-lived')
    await page.getByTestId('remove-agent').click()
    await page.getByRole('button', { name: 'Delete short-lived' }).click()
    await page.getByTestId('agents').waitFor()
    expect(await rowOf(page, 'agent-row', 'short-lived').count()).toBe(0)
    await page.goto(`${house.line.url}/#/agents/short-lived`)
    await says(page, 'trouble', 'There is no agent short-lived.')
    await page.context().close()
  })

  it.each([320, 800, 1400])(
    'fits into a window %d pixels wide, and all that can be used has a name',
    async (width) => {
      const name = `w${width}-${'long-name-'.repeat(4)}x`
      agents.engine.scripts.set('registry.test/wide:2', {
        fails: { code: 1, output: `${'long'.repeat(200)}\n` },
      })
      await agents.deployed(name)
      await agents.update(name, { image: 'registry.test/wide:2' })
      await agents.phase(name, 'Failed')
      const { id, instance } = await agents.session(name)
      instance.say(`${'word '.repeat(200)}`, id)
      const { page } = await house.page('')
      await page.setViewportSize({ width, height: 700 })
      for (const place of ['', `/${name}`, `/${name}/sessions`, `/${name}/log`, `/${name}/sessions/${id}`]) {
        await page.goto(`${house.line.url}/#/agents${place}`)
        await page.locator('main .card').first().waitFor()
        await until(
          async () => !(await page.locator('main').textContent())?.includes('Loading'),
          `${place} to be there`,
        )
        const { beyond, nameless } = await page.evaluate(() => ({
          beyond: document.documentElement.scrollWidth - innerWidth,
          nameless: [...document.querySelectorAll('button:not([aria-hidden=true]), a[href], input, select')]
            .filter((one) => {
              const labelled = one instanceof HTMLInputElement || one instanceof HTMLSelectElement
              const labels = labelled
                ? [...(one.labels ?? [])].map((label) => label.textContent)
                : [one.textContent]
              return ![one.getAttribute('aria-label'), ...labels].some((words) => words?.trim())
            })
            .map((one) => one.outerHTML),
        }))
        expect([place, beyond, nameless]).toEqual([place, 0, []])
      }
      await page.context().close()
    },
  )
})
