import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../cloud/src/testing/cloud-fixture.ts'
import { CHROMIUM } from '../../../runner/src/testing/chromium.ts'
import { DASHBOARD, DashboardHouse, rowsOf } from '../testing/dashboard-house.ts'

const MANY = 100_000
/** Rows in the document, whatever the length of the log: those in sight and some around them. */
const MOST_ROWS = 120

describe.skipIf(CHROMIUM === undefined || !existsSync(DASHBOARD))('a build on the dashboard', () => {
  let house: DashboardHouse
  beforeAll(async () => {
    house = await DashboardHouse.open()
  })
  afterAll(() => house.close())

  const has = (page: Page, number: number, text: string) =>
    until(
      async () => (await rowsOf(page)).some((row) => row[0] === number && row[1] === text),
      `line ${number} to be ${JSON.stringify(text)}`,
    )
  const following = async (page: Page) => (await page.getByTestId('follow').count()) === 0

  async function opened(id: string, line = '') {
    const result = await house.page(`#/builds/${id}${line}`)
    await result.page.getByTestId('log').waitFor()
    return result
  }

  async function downloaded(page: Page): Promise<string> {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByTestId('download').click()])
    return readFileSync(await file.path(), 'utf8')
  }

  it('follows the log, stops when one scrolls up, and goes on over a cut connection without losing a line', async () => {
    const { cloud, line } = house
    const stage = `${cloud.folder}/stage`
    const wait = (name: string) => `until [ -e ${stage}-${name} ]; do sleep 0.02; done`
    const go = (name: string) => writeFileSync(`${stage}-${name}`, '')
    const { build } = await cloud.build({
      Dockerfile: [
        `RUN seq -f 'one %g' 1 200; ${wait('two')}; seq -f 'two %g' 1 200; ${wait('three')}`,
        `RUN seq -f 'three %g' 1 200; ${wait('four')}; seq -f 'four %g' 1 200`,
      ].join('\n'),
    })
    const { page, faults } = await opened(build.id)
    await has(page, 202, 'one 200')
    expect(await page.getByTestId('connection').textContent()).toBe('Live')
    await page.getByTestId('log').hover()
    await page.mouse.wheel(0, -1_000)
    await until(async () => !(await following(page)), 'following to stop')
    const before = (await rowsOf(page)).map(([number]) => number)
    go('two')
    await until(
      async () => (await page.getByTestId('follow').textContent())?.includes('200 new lines'),
      'new lines',
    )
    expect((await rowsOf(page)).map(([number]) => number)).toEqual(before)
    await page.getByTestId('follow').click()
    await has(page, 402, 'two 200')
    line.cut()
    await until(
      async () => (await page.getByTestId('connection').getAttribute('data-state')) === 'lost',
      'the cut to be noticed',
    )
    go('three')
    await has(page, 603, 'three 200')
    expect(await following(page)).toBe(true)
    go('four')
    await until(async () => (await page.getByTestId('connection').textContent()) === 'Complete', 'the end')
    await until(async () => (await page.locator('.badge').textContent()) === 'Succeeded', 'the status')
    const lines = await cloud.logs(build.id)
    expect(await downloaded(page)).toBe(lines.map((text) => `${text}\n`).join(''))
    await page.getByTestId('log').evaluate((log) => log.scrollTo(0, 0))
    await has(page, 1, lines[0] ?? '')
    for (const [number, text] of await rowsOf(page)) expect(text).toBe(lines[number - 1])
    expect(faults).toEqual([])
    await page.context().close()
  })

  it('says on top why a build failed, and goes to the line that tells it', async () => {
    const { build } = await house.cloud.build({
      Dockerfile: [
        'FROM x',
        `RUN seq 1 300; printf 'ERROR: %s\\n' 'nothing is called pipecatt'; seq 1 100`,
        'FAIL install_failed nothing is called pipecatt',
      ].join('\n'),
    })
    await house.cloud.ended(build.id)
    const { page } = await opened(build.id)
    await page.getByTestId('failure').waitFor()
    const card = (await page.getByTestId('failure').textContent()) ?? ''
    expect(card).toContain('Installing packages failed')
    expect(card).toContain('FAIL install_failed nothing is called pipecatt')
    expect(card).toContain('Dockerfile, line 3')
    expect(card).toContain('What to do: Mend the build file, then try again.')
    // The last line with the message is the builder's own, before the summary.
    await page.getByTestId('show-failure').click()
    await page.locator('[data-failing="true"]').waitFor()
    expect(await page.locator('[data-failing="true"] code').textContent()).toContain('STEP 3: FAIL')
    await page.getByLabel('Search the log').fill('ERROR: NOTHING')
    await has(page, 304, 'ERROR: nothing is called pipecatt')
    expect(await page.getByTestId('hits').textContent()).toBe('1 of 1')
    await page.context().close()
  })

  it('cancels a build after a question, and deletes it after another', async () => {
    const { cloud } = house
    const { build } = await cloud.build({ Dockerfile: 'RUN echo begun; sleep 600' })
    const { page } = await opened(build.id)
    await has(page, 3, 'begun')
    await page.getByTestId('cancel').click()
    await page.getByRole('button', { name: 'Let it go on' }).click()
    expect((await cloud.record(build.id)).status).toBe('building')
    await page.getByTestId('cancel').click()
    await page.getByTestId('yes').click()
    await until(
      async () => (await page.getByTestId('failure').textContent())?.startsWith('The build was cancelled'),
      'the end',
    )
    expect((await cloud.record(build.id)).failure?.code).toBe('cancelled')
    expect(await page.locator('.badge').textContent()).toBe('Cancelled')
    expect(await page.locator('[data-failing=true]').count()).toBe(0)
    await page.getByTestId('remove').click()
    await page.getByTestId('yes').click()
    await until(() => page.url().endsWith('#/builds'), 'the list of builds')
    expect((await cloud.request(`/v1/builds/${build.id}`)).status).toBe(404)
    await page.goBack()
    await until(
      async () => (await page.getByTestId('trouble').first().textContent())?.includes('There is no build'),
      'that it is gone',
    )
    await page.goto(page.url().replace(build.id, 'nope'))
    await until(
      async () => (await page.getByTestId('trouble').first().textContent()) === 'There is no build nope.',
      'that there is none',
    )
    await page.context().close()
  })

  describe(`with ${MANY} lines`, () => {
    let id: string
    let lines: string[]
    beforeAll(async () => {
      const program = `BEGIN{for(i=1;i<=${MANY};i++) print "compiling module " i " with care"}`
      const { build } = await house.cloud.build({ Dockerfile: `RUN awk '${program}'` })
      id = build.id
      await house.cloud.ended(id)
      lines = []
      for (let token = ''; ; ) {
        const { body } = await house.cloud.request(`/v1/builds/${id}/logs?limit=10000${token}`)
        const page = body as { logs: string[]; nextToken?: string }
        lines.unshift(...page.logs)
        if (page.nextToken === undefined) break
        token = `&nextToken=${page.nextToken}`
      }
      expect(lines.length).toBeGreaterThan(MANY)
    })

    async function scrollTo(page: Page, share: number): Promise<void> {
      await page.getByTestId('log').evaluate((log, part) => log.scrollTo(0, log.scrollHeight * part), share)
    }

    it('draws only the lines in sight, and the right ones wherever one scrolls', async () => {
      const { page, faults } = await opened(id)
      await has(page, lines.length, lines.at(-1) ?? '')
      expect(await page.getByTestId('line-count').textContent()).toBe(
        `${lines.length.toLocaleString('en')} lines`,
      )
      for (const share of [0.99, 0.5, 0, 0.25, 0.75, 0.001, 1]) {
        await scrollTo(page, share)
        await until(async () => {
          const top = await page.getByTestId('log').evaluate((log) => Math.ceil(log.scrollTop / 20) + 1)
          const rows = new Map(await rowsOf(page))
          const seen = Array.from({ length: 10 }, (_, index) => top + index)
          return seen.every((number) => rows.get(number) === lines[number - 1])
        }, `the lines at ${share}`)
        const rows = await rowsOf(page)
        expect(rows.length).toBeLessThan(MOST_ROWS)
        for (const [number, text] of rows) if (text !== '') expect(text).toBe(lines[number - 1])
      }
      expect(await page.locator('*').count()).toBeLessThan(1_000)
      expect(faults).toEqual([])
      await page.context().close()
    })

    it('leads to a line by its link, and shows it whole', async () => {
      const { page } = await opened(id, '/L4321')
      await has(page, 4321, lines[4320] ?? '')
      await until(
        async () =>
          (await page.getByTestId('selected-line').textContent())?.startsWith(`Line 4321${lines[4320]}`),
        'the line',
      )
      await page.locator('[data-line="4325"] a').click()
      await until(() => page.url().endsWith(`#/builds/${id}/L4325`), 'the link to the other line')
      await until(
        async () => (await page.locator('[data-selected="true"]').getAttribute('data-line')) === '4325',
        'the other line to be pointed at',
      )
      const box = await page.locator('[data-line="4325"]').boundingBox()
      const frame = await page.getByTestId('log').boundingBox()
      expect(box?.y).toBeGreaterThanOrEqual(frame?.y ?? Number.NaN)
      await page.context().close()
    })

    it('searches all lines, forth and back, by keys', async () => {
      const { page } = await opened(id)
      await has(page, lines.length, lines.at(-1) ?? '')
      const hits = lines.flatMap((text, index) => (text.includes('module 777') ? [index + 1] : []))
      await page.keyboard.press('/')
      await page.keyboard.type('MODULE 777')
      await until(
        async () => (await page.getByTestId('hits').textContent())?.endsWith(` of ${hits.length}`),
        'all hits',
      )
      const current = async () =>
        Number(
          await page
            .locator('[data-current="true"]')
            .getAttribute('data-line')
            .catch(() => undefined),
        )
      const start = hits.indexOf(await current())
      expect(start).toBeGreaterThanOrEqual(0)
      for (const [keys, step] of [
        ['Enter', 1],
        ['Enter', 2],
        ['Shift+Enter', 1],
        ['Shift+Enter', 0],
        ['Shift+Enter', -1],
      ] as const) {
        await page.keyboard.press(keys)
        const expected = hits.at((start + step) % hits.length)
        await until(async () => (await current()) === expected, `hit ${step} from the start`)
      }
      expect(await page.locator('[data-current="true"] mark').textContent()).toBe('module 777')
      await page.keyboard.press('Escape')
      await until(async () => (await page.getByTestId('hits').count()) === 0, 'the search to be over')
      expect(await downloaded(page)).toBe(`${lines.join('\n')}\n`)
      await page.context().close()
    })
  })

  it('shows the start and the end of an overlong log, and between them how many lines were left out', async () => {
    const small = await DashboardHouse.open({ logBytes: 1024 * 1024 })
    try {
      const { build } = await small.cloud.build({
        Dockerfile: `RUN seq -f 'a line that is number %g' 1 ${MANY}`,
      })
      await small.cloud.ended(build.id)
      const { page } = await small.page(`#/builds/${build.id}`)
      const total = MANY + 3
      await until(async () => (await rowsOf(page)).some(([number]) => number === total), 'the last line')
      await page.getByLabel('Search the log').fill('left out here')
      const mark = page.locator('[data-current="true"]')
      await mark.waitFor()
      const left = Number(
        /^\[(\d+) lines were left out/.exec((await mark.locator('code').textContent()) ?? '')?.[1],
      )
      expect(left).toBeGreaterThan(1_000)
      const rows = await rowsOf(page)
      const at = rows.findIndex(([, text]) => text.includes('left out here'))
      const [before, after] = [rows[at - 1], rows[at + 1]]
      const numbers = [before, rows[at], after].map((row) => row?.[0] ?? 0)
      expect(numbers[1]).toBe((numbers[0] ?? 0) + left)
      expect(numbers[2]).toBe((numbers[1] ?? 0) + 1)
      for (const row of [before, after]) expect(row?.[1]).toBe(`a line that is number ${(row?.[0] ?? 0) - 2}`)
      await page.getByTestId('log').evaluate((log) => log.scrollTo(0, 0))
      await has(page, 3, 'a line that is number 1')
      await page.context().close()
    } finally {
      await small.close()
    }
  })
})
