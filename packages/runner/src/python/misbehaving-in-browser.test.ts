import { afterAll, beforeAll, describe } from 'vitest'
import { browserDial, type Dial } from '../testing/callers.ts'
import { CHROMIUM, TestBrowser } from '../testing/chromium.ts'
import { itSurvivesMisbehaviour } from '../testing/python-misbehaviours.ts'

describe.skipIf(CHROMIUM === undefined)('a browser over WebRTC with a Python bot', () => {
  let browser: TestBrowser
  let dial: Dial
  beforeAll(async () => {
    browser = await TestBrowser.launch()
    dial = await browserDial(browser)
  })
  afterAll(() => browser.close())

  itSurvivesMisbehaviour({ transports: ['webrtc'], dial: () => dial })
})
