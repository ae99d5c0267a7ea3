import type { Page } from 'playwright-core'
import { MICROPHONE_HERTZ, TestBrowser } from '../../../runner/src/testing/chromium.ts'
import type { PublishedTransport } from '../../../runner/src/testing/published-client.ts'
import { type PublishedGlobals, PublishedSite } from '../../../runner/src/testing/published-site.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'

/** Inside of the page. */
declare const published: PublishedGlobals['published']
declare const heardHertz: PublishedGlobals['heardHertz']

/** What a test wants to talk to. */
export interface PublishedCall {
  readonly transport: PublishedTransport
  /** Of `/start`. */
  readonly endpoint: string
  readonly key: string
  readonly body?: Record<string, string>
}

/** A page of somebody else, from an origin of its own, that talks with the published clients. */
export class PublishedPage {
  readonly #browser: TestBrowser
  readonly #site: PublishedSite
  readonly #page: Page

  private constructor(browser: TestBrowser, site: PublishedSite, page: Page) {
    this.#browser = browser
    this.#site = site
    this.#page = page
  }

  static async open(): Promise<PublishedPage> {
    const [browser, site] = await Promise.all([TestBrowser.launch(), PublishedSite.open()])
    return new PublishedPage(browser, site, await (await browser.context()).newPage())
  }

  async close(): Promise<void> {
    await this.#browser.close()
    this.#site.close()
  }

  /** Starts a session and connects, on a fresh page. Gives the session's id, as the start has told it. */
  async connect({ transport, endpoint, key, body = {} }: PublishedCall): Promise<string> {
    await this.#page.goto(this.#site.url)
    await this.#page.evaluate(([...all]) => published.startAndConnect(...all), [
      transport,
      endpoint,
      key,
      body,
    ] as const)
    const { sessionId } = (await this.event('botStarted')) as { sessionId: string }
    return sessionId
  }

  /** What an event told, once it is there. */
  async event(type: string): Promise<unknown> {
    const events = () => this.#page.evaluate(() => published.events)
    return (await until(async () => (await events()).find((event) => event.type === type), type)).data
  }

  /** What went wrong, as far as the client knows. */
  async errors(): Promise<readonly unknown[]> {
    const events = await this.#page.evaluate(() => published.events)
    return events.filter(({ type }) => type === 'error')
  }

  /** Waits until the page plays what its microphone hears. */
  async hearsItself(): Promise<void> {
    await until(async () => {
      const heard = await this.#page.evaluate(() => heardHertz())
      return heard !== undefined && Math.abs(heard - MICROPHONE_HERTZ) < 25
    }, 'the browser to hear its own microphone')
  }

  request(type: string, data: unknown): Promise<unknown> {
    return this.#page.evaluate(([...all]) => published.request(...all), [type, data] as const)
  }

  async type(text: string): Promise<void> {
    await this.#page.evaluate((typed) => published.sendText(typed), text)
  }

  async disconnect(): Promise<void> {
    await this.#page.evaluate(() => published.disconnect())
  }
}
