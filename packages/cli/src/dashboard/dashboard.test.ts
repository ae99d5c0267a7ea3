import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../cloud/src/testing/cloud-fixture.ts'
import { CHROMIUM } from '../../../runner/src/testing/chromium.ts'
import { DASHBOARD, DashboardHouse } from '../testing/dashboard-house.ts'

describe.skipIf(CHROMIUM === undefined || !existsSync(DASHBOARD))('the dashboard', () => {
  let house: DashboardHouse
  beforeAll(async () => {
    house = await DashboardHouse.open()
  })
  afterAll(() => house.close())

  const says = (page: Page, testId: string, words: string | RegExp) =>
    until(async () => {
      const text = (await page.getByTestId(testId).allTextContents()).join('\n')
      return typeof words === 'string' ? text.includes(words) : words.test(text)
    }, `${testId} to say ${words}`)

  it('lets in whoever has a private key, and says what is wrong with another', async () => {
    const { page, faults } = await house.page('', '')
    const key = page.getByLabel('Private key')
    await until(() => key.evaluate((field) => field === document.activeElement), 'the focus on the field')
    expect(await page.getByTestId('sign-in').textContent()).toContain('botcli cloud --new-key')
    for (const [wrong, words] of [
      [`sk_${'x'.repeat(43)}`, 'does not know this key'],
      [house.cloud.keys.publicKey, 'This is a public key'],
    ] as const) {
      await key.fill(wrong)
      await page.keyboard.press('Enter')
      await says(page, 'trouble', words)
    }
    await key.fill(house.cloud.keys.privateKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await says(page, 'empty', 'botcli deploy')
    expect(await page.title()).toBe('Agents – Your cloud')
    await page.reload()
    await says(page, 'empty', 'There are no agents yet')
    expect(await page.evaluate(() => localStorage.length)).toBe(0)
    await page.getByTestId('sign-out').click()
    await key.fill(house.cloud.keys.privateKey)
    await page.getByLabel('Keep me signed in').check()
    await page.keyboard.press('Enter')
    await says(page, 'empty', 'There are no agents yet')
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([1, 0])
    await page.getByTestId('sign-out').click()
    await page.getByTestId('sign-in').waitFor()
    expect(await page.evaluate(() => localStorage.length)).toBe(0)
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('signs out in all tabs', async () => {
    const { page } = await house.page('#/settings')
    const other = await page.context().newPage()
    await other.goto(`${house.line.url}/#/settings`)
    await other.getByLabel('Private key').fill(house.cloud.keys.privateKey)
    await other.keyboard.press('Enter')
    await other.getByTestId('regions').waitFor()
    await page.getByTestId('sign-out').click()
    await says(other, 'trouble', 'You were signed out in another tab.')
    expect(await other.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0])
    await page.context().close()
  })

  it('signs out with a sentence when the key is revoked', async () => {
    const { body } = await house.cloud.send('POST', '/v1/keys', { name: 'short-lived', family: 'private' })
    const made = body as { key: string; record: { id: string } }
    const { page } = await house.page('#/settings', made.key)
    await page.getByTestId('regions').waitFor()
    await house.cloud.request(`/v1/keys/${made.record.id}`, { method: 'DELETE' })
    await page.getByRole('link', { name: 'Secrets' }).click()
    await says(page, 'trouble', 'You were signed out: the cloud no longer knows your key.')
    expect(await page.evaluate(() => sessionStorage.getItem('botcli-cloud-key'))).toBeNull()
    await page.context().close()
  })

  it('lists builds, filters and pages them, and shows by itself how they end', async () => {
    const { cloud } = house
    const gate = `${cloud.folder}/gate`
    for (let index = 0; index < 21; index += 1) await cloud.build({ Dockerfile: `FROM base-${index}` })
    const failed = await cloud.build({ Dockerfile: 'FAIL install_failed no such package' })
    await cloud.ended(failed.build.id)
    const running = await cloud.build({ Dockerfile: `RUN until [ -e ${gate} ]; do sleep 0.05; done` })
    const { page, faults } = await house.page('#/builds')
    const rows = page.getByTestId('build-row')
    await until(
      async () => (await rows.first().textContent())?.includes('Building'),
      'a build that is being done',
    )
    expect(await rows.first().textContent()).toContain(running.build.id.slice(0, 8))
    expect(await rows.nth(1).textContent()).toMatch(/Installing packages failedFailedlocal/)
    expect(await page.getByTestId('page').textContent()).toBe('1–20 of 23')
    await cloud.build({ Dockerfile: `RUN touch ${gate}` })
    await until(
      async () => !(await rows.allTextContents()).join().includes('Building'),
      'the end of that build',
    )
    await page.getByRole('button', { name: 'Older' }).click()
    await until(
      async () => (await page.getByTestId('page').textContent()) === '21–24 of 24',
      'the second page',
    )
    expect(await rows.count()).toBe(4)
    await page.getByRole('button', { name: 'Newer' }).click()
    await until(async () => (await rows.count()) === 20, 'the first page')
    await page.getByRole('link', { name: 'Failed', exact: true }).click()
    await until(async () => (await rows.count()) === 1, 'only the failed one')
    await page.getByRole('link', { name: 'Timed out' }).click()
    await says(page, 'empty', 'No build is “Timed out”')
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('makes, changes and removes secrets and never shows a value again', async () => {
    const { page, faults } = await house.page('#/secrets')
    await says(page, 'empty', 'botcli secrets set')
    await page.getByTestId('new-set').click()
    await page.getByLabel('Name', { exact: true }).fill('my-bot')
    await page.getByLabel('Name of variable 1').fill('FIRST_KEY')
    await page.getByLabel('Value of variable 1').fill('private-word-first\nwith a second line')
    await page.getByRole('button', { name: 'Another variable' }).click()
    await page.getByLabel('Name of variable 2').fill('SECOND_KEY')
    await page.getByLabel('Value of variable 2').fill('private-word-second')
    const sent = page.waitForRequest((request) => request.method() === 'PUT')
    await page.getByRole('button', { name: 'Make the set' }).click()
    expect((await sent).postDataJSON()).toEqual({
      secrets: [
        { secretKey: 'FIRST_KEY', secretValue: 'private-word-first\nwith a second line' },
        { secretKey: 'SECOND_KEY', secretValue: 'private-word-second' },
      ],
      region: 'local',
    })
    await says(page, 'secrets', /FIRST_KEY.*SECOND_KEY/)
    await page.getByLabel('Name of variable 1').fill('THIRD_KEY')
    await page.getByLabel('Value of variable 1').fill('private-word-third')
    await page.getByRole('button', { name: 'Save' }).click()
    await says(page, 'secrets', 'THIRD_KEY')
    expect(await page.getByLabel('Value of variable 1').inputValue()).toBe('')
    expect(await page.content()).not.toContain('private-word')
    await page.getByRole('button', { name: 'Remove FIRST_KEY' }).click()
    await page.getByRole('button', { name: 'Keep it' }).click()
    await page.getByRole('button', { name: 'Remove FIRST_KEY' }).click()
    await page.getByTestId('yes').click()
    await until(
      async () => !(await page.getByTestId('secrets').textContent())?.includes('FIRST_KEY'),
      'the key to be gone',
    )
    await page.getByRole('link', { name: 'Secrets' }).first().click()
    await says(page, 'sets', 'my-bot')
    await page.getByTestId('new-set').click()
    await page.getByLabel('Name', { exact: true }).fill('my-bot')
    await page.getByLabel('Name of variable 1').fill('X')
    await page.getByLabel('Value of variable 1').fill('y')
    await page.getByRole('button', { name: 'Make the set' }).click()
    await says(page, 'trouble', 'There is a set my-bot already.')
    await page.getByRole('link', { name: 'my-bot' }).click()
    await page.getByTestId('remove-set').click()
    await page.getByTestId('yes').click()
    await says(page, 'empty', 'There are no secrets yet')
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('shows what a set of another kind is, and deletes it', async () => {
    await house.cloud.send('PUT', '/v1/secrets/registry', {
      ...{ isImagePullSecret: true, host: 'ghcr.io', secretValue: 'bWU6dG9rZW4=' },
    })
    const { page } = await house.page('#/secrets')
    await page.getByRole('link', { name: 'registry' }).click()
    await says(page, 'registry', 'This set opens an image registry')
    await says(page, 'registry', 'botcli secrets image-pull-secret registry HOST')
    expect(await page.getByTestId('trouble').count()).toBe(0)
    await page.getByTestId('remove-set').click()
    await page.getByTestId('yes').click()
    await says(page, 'empty', 'There are no secrets yet')
    await page.context().close()
  })

  it.each([800, 1000])('breaks no word of the keys in a window %d pixels wide', async (width) => {
    const { page } = await house.page('#/keys')
    await page.setViewportSize({ width, height: 700 })
    const whole = page.locator('[data-testid=key-row] :is(code, button, time)')
    await whole.first().waitFor()
    const lines = await whole.evaluateAll((parts) =>
      parts.flatMap((part) => {
        const range = document.createRange()
        range.selectNodeContents(part)
        const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
        return tops.size > (part.textContent ?? '').split(' ').length ||
          (part.tagName !== 'TIME' && tops.size > 1)
          ? [part.textContent]
          : []
      }),
    )
    expect(lines).toEqual([])
    await page.context().close()
  })

  it('makes a key that is shown once, and revokes keys after a question', async () => {
    const { page, faults } = await house.page('#/keys')
    await page.getByTestId('new-key').click()
    await page.getByLabel('Name').fill('robot')
    await page.getByLabel('Public API').check()
    await page.getByRole('button', { name: 'Make the key' }).click()
    await says(page, 'made-key', 'It is not shown again')
    const key = (await page.getByTestId('made-key').locator('code').textContent()) ?? ''
    expect(key).toMatch(/^pk_\w{43}$/)
    expect((await house.cloud.request('/v1/public/x', { key })).status).toBe(404)
    await page.getByRole('button', { name: 'Hide the key' }).click()
    expect(await page.content()).not.toContain(key)
    await page.getByRole('button', { name: 'Revoke robot' }).click()
    await page.keyboard.press('Escape')
    await until(async () => (await page.locator('dialog').count()) === 0, 'the question to be gone')
    expect((await house.cloud.request('/v1/public/x', { key })).status).toBe(404)
    await page.getByRole('button', { name: 'Revoke robot' }).click()
    await page.getByTestId('yes').click()
    const robot = page.getByTestId('key-row').filter({ hasText: 'robot' })
    await until(async () => (await robot.textContent())?.includes('Revoked'), 'the key to be revoked')
    expect((await house.cloud.request('/v1/public/x', { key })).status).toBe(401)
    const own = page.getByTestId('key-row').filter({ hasText: 'in use here' })
    await own.getByRole('button').click()
    expect(await page.locator('dialog').textContent()).toContain('you will be signed out')
    await page.getByTestId('yes').click()
    await says(page, 'trouble', 'This is the last private key')
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('shows the regions and changes the default one', async () => {
    const { page } = await house.page('#/settings')
    await says(page, 'regions', /This machinedefault.*Far away/)
    await page.getByLabel('Default region').selectOption('far')
    await says(page, 'regions', /Far awaydefault/)
    expect((await house.cloud.request('/v1/properties')).body).toEqual({
      properties: { defaultRegion: 'far' },
    })
    await page.context().close()
  })

  it.each([320, 800, 1400])(
    'fits into a window %d pixels wide, and all that can be used has a name',
    async (width) => {
      const { build } = await house.cloud.build({ Dockerfile: `FAIL command_failed ${'long'.repeat(100)}` })
      await house.cloud.ended(build.id)
      await house.cloud.send('PUT', '/v1/secrets/wide', {
        secrets: [{ secretKey: 'K'.repeat(64), secretValue: 'v' }],
      })
      const { page } = await house.page('')
      await page.setViewportSize({ width, height: 700 })
      for (const place of [
        'builds',
        `builds/${build.id}/L2`,
        'secrets',
        'secrets/wide',
        'keys',
        'settings',
      ]) {
        await page.goto(`${house.line.url}/#/${place}`)
        await page.locator('main .card').first().waitFor()
        await until(
          async () => !(await page.locator('main').textContent())?.includes('Loading'),
          `${place} to be there`,
        )
        const { beyond, nameless } = await page.evaluate(() => ({
          beyond: document.documentElement.scrollWidth - innerWidth,
          nameless: [...document.querySelectorAll('button, a[href], input, select, textarea')]
            .filter((one) => {
              const labels =
                one instanceof HTMLInputElement || one instanceof HTMLTextAreaElement ? one.labels : null
              const own =
                one.getAttribute('aria-label') ?? (one instanceof HTMLSelectElement ? '' : one.textContent)
              const select = one instanceof HTMLSelectElement ? one.labels : null
              return ![own, ...[...(labels ?? select ?? [])].map((label) => label.textContent)].some((name) =>
                name?.trim(),
              )
            })
            .map((one) => one.outerHTML),
        }))
        expect([place, beyond, nameless]).toEqual([place, 0, []])
      }
      await page.context().close()
    },
  )

  it('gives the focus to where one is, and back to where one was', async () => {
    const { page } = await house.page('')
    const focused = () =>
      page.evaluate(() => document.activeElement?.textContent || document.activeElement?.id)
    await page.getByRole('link', { name: 'Keys' }).click()
    await until(async () => (await focused()) === 'Keys', 'the heading to have the focus')
    await page.getByTestId('new-key').click()
    await until(async () => (await focused()) === 'key-name', 'the first field to have the focus')
    await page.getByRole('button', { name: 'Never mind' }).click()
    await page.getByRole('button', { name: 'Revoke' }).first().click()
    await page.locator('dialog[open]').waitFor()
    await page.keyboard.press('Escape')
    await until(async () => (await focused()) === 'Revoke', 'the button to have the focus again')
    await page.context().close()
  })

  it('needs no more than its own files: no style and no script in the document, nothing from elsewhere', async () => {
    const { build } = await house.cloud.build({ Dockerfile: 'FROM x' })
    await house.cloud.ended(build.id)
    const { page, faults } = await house.page('#/nothing')
    await says(page, 'empty', 'There is nothing at this address')
    for (const place of [`#/builds/${build.id}`, '#/builds', '#/secrets', '#/keys', '#/settings']) {
      await page.goto(`${house.line.url}/${place}`)
      await page.locator('main h1').waitFor()
    }
    expect(await page.locator('script:not([src]), style').count()).toBe(0)
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('is allowed no more than that by the policy that the cloud sends', async () => {
    const { page, faults } = await house.page('#/keys')
    await page.locator('main h1').waitFor()
    for (const markup of [
      '<style>main { display: none }</style>',
      '<p style="display: none">x</p>',
      '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
      '<img src="x" onerror="document.title = 0">',
    ]) {
      const before = faults.length
      await page.evaluate((html) => document.body.insertAdjacentHTML('beforeend', html), markup)
      await until(() => faults.length > before, `${markup} to be refused`)
    }
    expect(await page.locator('main').isVisible()).toBe(true)
    expect(await page.title()).not.toBe('0')
    await page.context().close()
  })
})
