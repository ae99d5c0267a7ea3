import { createHmac } from 'node:crypto'
import { PhoneCall } from '@botcli/media/phone'
import type { CarrierId } from '@botcli/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunnerConfig } from '../config.ts'
import { GOODBYE_BOT } from '../testing/phone-bots.ts'
import { ECHO, RunnerFixture } from '../testing/runner-fixture.ts'

const PROXY = 'bots.example.com'
const FORM = { From: '+15550001111', To: '+15550002222', CallSid: 'CA1' }

let runner: RunnerFixture
afterEach(() => runner.close())

async function start(config: Partial<RunnerConfig>, bot = ECHO): Promise<void> {
  runner = await RunnerFixture.start(bot, { proxy: PROXY, ...config })
}

function ask(headers: Record<string, string> = {}, path = '/'): Promise<Response> {
  return runner.request(path, { method: 'POST', body: new URLSearchParams(FORM), headers })
}

/** As carrier A does it. */
function signed(token: string, url = `https://${PROXY}/`): Record<string, string> {
  const fields = Object.entries(FORM).sort().flat().join('')
  return {
    'X-Twilio-Signature': createHmac('sha1', token)
      .update(url + fields)
      .digest('base64'),
  }
}

describe('POST /', () => {
  it.each([
    ['telephony_a', `<Connect><Stream url="wss://${PROXY}/ws">`],
    ['telephony_b', `<Stream url="wss://${PROXY}/ws" codec="PCMU" bidirectionalMode="rtp"`],
    ['telephony_c', `>wss://${PROXY}/ws</Stream>`],
  ] as const)('tells %s where to bring the call', async (transport, part) => {
    await start({ transport })
    const response = await ask()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('application/xml')
    expect(await response.text()).toContain(part)
  })

  it('tells D an address without a proxy, too', async () => {
    runner = await RunnerFixture.start(ECHO, { transport: 'telephony_d' })
    const response = await ask()
    expect(await response.json()).toEqual({ url: `${runner.url.replace('http', 'ws')}/ws` })
  })

  it.each([undefined, 'webrtc', 'room', 'websocket'] as const)(
    'is not there with -t %s',
    async (transport) => {
      await start(transport === undefined ? {} : { transport })
      const response = await ask()
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('GET')
      expect((await runner.request('/')).status).toBe(307)
    },
  )
})

describe('with the token of the carrier', () => {
  const telephony = { webhookSecrets: { a: { authToken: 'secret' } } }

  it('a wrong or missing signature is 403', async () => {
    await start({ transport: 'telephony_a', telephony })
    expect((await ask(signed('secret'))).status).toBe(200)
    expect((await ask(signed('secret', `https://${PROXY}/?a=1`), '/?a=1')).status).toBe(200)
    expect((await ask(signed('other'))).status).toBe(403)
    expect((await ask(signed('secret', 'https://elsewhere.example/'))).status).toBe(403)
    const refused = await ask()
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ code: 'sender_not_verified' })
    expect(JSON.stringify(runner.log.lines)).not.toContain('secret')
  })

  it('a signed call gets through a list of origins, to a bot', async () => {
    await start({ transport: 'telephony_a', telephony, allowedOrigins: ['https://app.example'] }, GOODBYE_BOT)
    expect((await ask()).status).toBe(403)
    const text = await (await ask(signed('secret'))).text()
    const [, path] = /url="wss:\/\/[^/]+(\/[^"]+)"/.exec(text) ?? []
    expect(path).toMatch(/^\/sessions\/[\w-]+\/ws$/)
    const carrier: CarrierId = 'telephony_a'
    const { closed } = await new PhoneCall({ url: `${runner.url.replace('http', 'ws')}${path}`, carrier })
      .ended
    expect(closed).toMatchObject({ by: 'runner', code: 1000 })
  })
})
