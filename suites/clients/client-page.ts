import type { BrowserContext, Page } from 'playwright-core'
import { until } from '../../packages/runner/src/testing/runner-fixture.ts'

/** What the published WebRTC transport throws, where nobody can catch it, when an attempt is given up halfway. */
const GIVEN_UP = 'Unable to connect to transport'

/** What the test puts into the page. */
interface PageGlobals {
  readonly heardHertz: () => number | undefined
  readonly openedTracks: readonly MediaStreamTrack[]
  /** Whether the page may use the devices; they are refused as a browser refuses them. */
  refuseDevices: boolean
}

/** The page of a generated client, used as a person would. */
export class ClientPage {
  readonly page: Page
  /** What the page threw. */
  readonly errors: readonly string[]

  private constructor(page: Page, errors: readonly string[]) {
    this.page = page
    this.errors = errors
  }

  static async open(context: BrowserContext, url: string): Promise<ClientPage> {
    await context.addInitScript(rememberTracks)
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', ({ message }) => {
      if (message !== GIVEN_UP) errors.push(message)
    })
    page.on('console', (message) => {
      // The browser itself writes about requests that fail, and the published client about errors that it reports, and
      // about sound that it had still wanted to send when the server closed the socket.
      const expected =
        /^Failed to load resource|Fatal error reported|Error fetching|ICE candidate|send to closed socket/
      if (message.type() === 'error' && !expected.test(message.text())) errors.push(message.text())
    })
    await page.goto(url)
    await page.getByRole('button', { name: 'Connect' }).waitFor()
    return new ClientPage(page, errors)
  }

  async choose(transport: string): Promise<void> {
    await this.page.getByLabel('Transport').selectOption({ label: transport })
  }

  async connect(): Promise<void> {
    await this.page.getByRole('button', { name: 'Connect', exact: true }).click()
    await this.status('Connected')
  }

  /** Changes one's mind at once. */
  async cancel(): Promise<void> {
    await this.page.getByRole('button', { name: 'Connect', exact: true }).click()
    await this.page.getByRole('button', { name: 'Cancel' }).click()
    await this.status('Not connected')
  }

  async disconnect(): Promise<void> {
    await this.page.getByRole('button', { name: 'Disconnect' }).click()
    await this.status('Not connected')
  }

  async type(text: string): Promise<void> {
    await this.page.getByLabel('Message').fill(text)
    await this.page.getByRole('button', { name: 'Send' }).click()
  }

  /** The conversation: who and what. */
  async lines(): Promise<readonly string[]> {
    const items = this.page.getByRole('log').locator('.line')
    return (await items.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
  }

  /** Waits until the conversation is this one. */
  async says(lines: readonly string[]): Promise<void> {
    const wanted = JSON.stringify(lines)
    await until(async () => JSON.stringify(await this.lines()) === wanted, `the lines ${wanted}`)
  }

  /** Waits until the page plays the bot's voice. */
  async hears(hertz: number): Promise<void> {
    const heard = () => this.page.evaluate(() => (globalThis as unknown as PageGlobals).heardHertz())
    await until(async () => Math.abs(((await heard()) ?? 0) - hertz) < 15, `${hertz} Hz to be heard`)
  }

  async status(text: string): Promise<void> {
    await this.page.getByRole('status').getByText(text, { exact: true }).waitFor()
  }

  /** The problem that is shown. */
  async problem(): Promise<string> {
    const shown = this.page.getByRole('alert').filter({ has: this.page.locator('strong') })
    await shown.waitFor()
    return shown.innerText()
  }

  /** Waits until the meter shows that the microphone hears something. */
  async showsLevel(): Promise<void> {
    const level = () =>
      this.page.getByLabel('Microphone level').evaluate((meter) => Number(Reflect.get(meter, 'value')))
    await until(async () => (await level()) > 0.2, 'the level of the microphone')
  }

  /** What the browser says to the next question for microphone and camera. */
  async refuseDevices(refuse: boolean): Promise<void> {
    await this.page.evaluate((value) => {
      Object.assign(globalThis, { refuseDevices: value })
    }, refuse)
  }

  /** Whether the buttons of the devices can be pressed, by what they say. */
  async devices(): Promise<Record<string, boolean>> {
    const buttons = await this.page.locator('.devices button:visible').all()
    const pairs = buttons.map(async (button) => [await button.innerText(), await button.isEnabled()] as const)
    return Object.fromEntries(await Promise.all(pairs))
  }

  async press(name: string): Promise<void> {
    await this.page.getByRole('button', { name, exact: true }).click()
  }

  /** Waits until the page has let go of its devices. */
  async freesDevices(): Promise<void> {
    const open = () =>
      this.page.evaluate(() => {
        const { openedTracks } = globalThis as unknown as PageGlobals
        return openedTracks.filter((track) => track.readyState === 'live').length
      })
    await until(async () => (await open()) === 0, 'the devices to be free')
  }

  audioElements(): Promise<number> {
    return this.page.evaluate(() => document.querySelectorAll('audio').length)
  }
}

/** Runs inside the page. */
function rememberTracks(): void {
  const openedTracks: MediaStreamTrack[] = []
  const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    if ((globalThis as unknown as PageGlobals).refuseDevices) {
      throw new DOMException('Permission denied', 'NotAllowedError')
    }
    const stream = await ask(constraints)
    openedTracks.push(...stream.getTracks())
    return stream
  }
  Object.assign(globalThis, { openedTracks, refuseDevices: false })
}
