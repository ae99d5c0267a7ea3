import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { CloudFixture, type FixtureOptions } from '../../../cloud/src/testing/cloud-fixture.ts'
import { TestBrowser } from '../../../runner/src/testing/chromium.ts'
import { CuttableLine } from './cuttable-line.ts'

const TALK_PAGE = resolve(import.meta.dirname, '../../../client/dist')
/** Where the built dashboard is. */
export const DASHBOARD = resolve(TALK_PAGE, 'cloud')

/** A page and what went wrong on it. */
export interface OpenedPage {
  readonly page: Page
  /** Addresses outside of the cloud, errors, and what the content policy forbids. */
  readonly faults: readonly string[]
}

/** A real cloud with the built dashboard, a line to it that can be cut, and a browser. */
export class DashboardHouse {
  readonly cloud: CloudFixture
  readonly line: CuttableLine
  readonly #browser: TestBrowser

  private constructor(cloud: CloudFixture, line: CuttableLine, browser: TestBrowser) {
    this.cloud = cloud
    this.line = line
    this.#browser = browser
  }

  /** Starts all of it; `builds` are limits of builds. */
  static async open(builds: Readonly<Record<string, number>> = {}): Promise<DashboardHouse> {
    const regions = [
      { code: 'local', display_name: 'This machine' },
      { code: 'far', display_name: 'Far away' },
    ]
    return DashboardHouse.with({
      config: { regions, builds: { concurrency: 4, perOrganization: 4, ...builds } },
    })
  }

  /** Starts all of it with a cloud of one's choice. */
  static async with(options: FixtureOptions): Promise<DashboardHouse> {
    const pages = { dashboardFolder: DASHBOARD, talkFolder: TALK_PAGE }
    const cloud = await CloudFixture.start({ ...pages, ...options })
    const line = await CuttableLine.open(cloud.url)
    return new DashboardHouse(cloud, line, await TestBrowser.launch())
  }

  async close(): Promise<void> {
    await this.#browser.close()
    this.line.close()
    await this.cloud.close()
  }

  /** A page at a place of the dashboard, signed in unless told otherwise. */
  async page(place: string, key = this.cloud.keys.privateKey): Promise<OpenedPage> {
    const context = await this.#browser.context()
    const page = await context.newPage()
    const faults: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(this.line.url)) faults.push(request.url())
    })
    page.on('pageerror', (error) => faults.push(String(error)))
    page.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) faults.push(message.text())
    })
    if (key !== '') await page.addInitScript(signIn, key)
    await page.goto(`${this.line.url}/${place}`)
    return { page, faults }
  }
}

/** Runs inside of the page. */
function signIn(key: string): void {
  if (sessionStorage.getItem('was here') === null) sessionStorage.setItem('botcli-cloud-key', key)
  sessionStorage.setItem('was here', 'yes')
}

/** The lines that a page shows: number and text of every row in the document. */
export async function rowsOf(page: Page): Promise<readonly (readonly [number, string])[]> {
  return page
    .locator('[data-line]')
    .evaluateAll((rows) =>
      rows.map((row) => [
        Number(row.getAttribute('data-line')),
        row.querySelector('code')?.textContent ?? '',
      ]),
    )
}
