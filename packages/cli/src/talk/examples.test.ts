import { readFile } from 'node:fs/promises'
import { decodeWav, encodeWav, isVoiced } from '@botcli/audio'
import { PhoneCall } from '@botcli/media/phone'
import { CARRIER_IDS } from '@botcli/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tone } from '../../../media/src/testing/tone.ts'
import { CHROMIUM } from '../../../runner/src/testing/chromium.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { toneShare, WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'
import { PublishedPage } from '../testing/published-page.ts'
import { TalkHouse } from '../testing/talk-house.ts'

const EXAMPLES = ['echo', 'echo-python'] as const
/** On a phone line. */
const RATE = 8000
const HERTZ = 620

let house: TalkHouse
beforeAll(async () => {
  house = await TalkHouse.open()
  await Promise.all(EXAMPLES.map((name) => house.deploy(name)))
}, 300_000)
afterAll(() => house.close())

/** How much of what was heard, where it was not silent, is the tone. */
async function toneIn(path: string): Promise<number> {
  const { channels, rate } = decodeWav(await readFile(path))
  const heard = channels[0] ?? new Int16Array()
  const piece = rate / 20
  const voiced = Array.from({ length: Math.floor(heard.length / piece) }, (_, index) =>
    heard.slice(index * piece, (index + 1) * piece),
  ).filter((samples) => isVoiced(samples))
  return toneShare(
    voiced.flatMap((samples) => [...samples]),
    HERTZ,
    rate,
  )
}

describe.skipIf(CHROMIUM === undefined)(
  'the examples, deployed, and the published clients in a browser',
  () => {
    let page: PublishedPage
    beforeAll(async () => {
      page = await PublishedPage.open()
    })
    afterAll(() => page.close())

    it.each(EXAMPLES.flatMap((agent) => [[agent, 'webrtc'] as const, [agent, 'websocket'] as const]))(
      '%s over %s: sound, typed text and requests come back',
      async (agent, transport) => {
        const endpoint = `${house.url}/v1/public/${agent}/start`
        const id = await page.connect({ transport, endpoint, key: house.publicKey })
        expect(await page.event('botReady')).toMatchObject({ version: expect.stringMatching(/^2\./) })
        await page.hearsItself()
        expect(await page.request('ask', { deep: [1, null, 'ü'] })).toEqual({ deep: [1, null, 'ü'] })
        await page.type('grüß dich 👋')
        expect(JSON.stringify(await page.event('botOutput'))).toContain('grüß dich 👋')
        expect(await house.active(agent, id)).toMatchObject({ transport, outcome: null })
        await page.disconnect()
        const session = await house.ended(agent, id)
        expect(session).toMatchObject({ completionStatus: 'client_left', outcome: { result: 'ok' } })
        expect(session.durationSeconds).toBeGreaterThan(0)
        expect(await page.errors()).toEqual([])
      },
      120_000,
    )
  },
)

describe('the examples, deployed, and phones', () => {
  const said = encodeWav({ rate: RATE, channels: [tone(RATE, 1000, HERTZ)] })

  it.each(CARRIER_IDS)(
    'a call as %s hears itself',
    async (carrier) => {
      const calls = EXAMPLES.map(async (agent) => {
        const { sessionId, heard } = await house.call(agent, carrier, said)
        expect(await toneIn(heard)).toBeGreaterThan(0.6)
        const session = await house.ended(agent, sessionId)
        expect(session).toMatchObject({ transport: carrier, completionStatus: 'client_left' })
        expect(session.durationSeconds).toBeGreaterThan(1)
      })
      await Promise.all(calls)
    },
    120_000,
  )

  it('an address opens its session once, also while the call lasts', async () => {
    const { sessionId, wsUrl = '' } = await house.start('echo', { transport: 'telephony_a' })
    const call = new PhoneCall({ url: wsUrl, carrier: 'telephony_a', limitMs: 80_000 })
    await until(async () => (await house.session('echo', sessionId)).state === 'active', 'the call')
    const refused = { status: 403, body: { code: 'FORBIDDEN', error: expect.stringContaining('was used') } }
    expect(await WebsocketClient.refusal(wsUrl)).toMatchObject(refused)
    expect((await house.session('echo', sessionId)).state).toBe('active')
    await call.close()
    expect(await house.ended('echo', sessionId)).toMatchObject({ completionStatus: 'client_left' })
    expect(await WebsocketClient.refusal(wsUrl)).toMatchObject(refused)
  })
})
