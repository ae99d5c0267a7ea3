import { PhoneCall } from '@botcli/media/phone'
import type { CarrierId, TransportId } from '@botcli/protocol'
import type { Page } from 'playwright-core'
import { type BrowserGlobals, installPeers } from './browser-peers.ts'
import type { TestBrowser } from './chromium.ts'
import { type RunnerFixture, until } from './runner-fixture.ts'
import { WebsocketClient } from './websocket-client.ts'

/** What a caller noticed of the end. */
export interface Goodbye {
  /** The close code, where the wire has one. */
  readonly code?: number
  readonly words: string
}

/** A caller over any wire, who can be heard from the first moment on. */
export interface TestCaller {
  readonly transport: TransportId
  readonly sessionId: string
  /** Waits until the other side has ended the call. */
  ended(): Promise<Goodbye>
  press(key: string): Promise<void>
  leave(): Promise<void>
}

/** Gets a caller to a bot which is told this body. */
export type Dial = (
  runner: RunnerFixture,
  transport: TransportId,
  body: Record<string, string>,
) => Promise<TestCaller>

/** Calls through `/ws-client`. */
const dialWebsocket: Dial = async (runner, transport, body) => {
  const { wsUrl, sessionId = '' } = await runner.start({ transport, body })
  const client = await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`)
  const humming = setInterval(() => {
    const audio = new Uint8Array(640)
    client.send({ kind: 'audio', audio, sampleRate: 16_000, channels: 1 })
  }, 20)
  client.websocket.on('close', () => clearInterval(humming))
  return {
    transport,
    sessionId,
    ended: async () => {
      const { code, reason } = await client.whenClosed()
      const { data } = client.messages.find(({ type }) => type === 'error') ?? {}
      return { code, words: `${data?.error} ${reason}` }
    },
    press: async (key) => client.sendMessage('dtmf', { buttons: [key] }),
    leave: async () => client.close(),
  }
}

/** Calls as the carrier would. */
const dialPhone: Dial = async (runner, transport, body) => {
  const { wsUrl = '' } = await runner.start({ transport, body })
  const call = new PhoneCall({ url: wsUrl, carrier: transport as CarrierId, limitMs: 80_000 })
  return {
    transport,
    sessionId: /sessions\/([^/]+)\/ws$/.exec(wsUrl)?.[1] ?? '',
    ended: async () => {
      const { by, code, reason } = (await call.ended).closed
      if (by !== 'runner') throw new Error(`the call was ended by the ${by}`)
      return { code, words: reason }
    },
    press: async (key) => call.press(key),
    leave: async () => void (await call.close()),
  }
}

/** Calls over any transport that is a WebSocket. */
export const dialSocket: Dial = (runner, transport, body) =>
  (transport === 'websocket' ? dialWebsocket : dialPhone)(runner, transport, body)

/** Calls from a page of a browser over WebRTC. */
export async function browserDial(browser: TestBrowser): Promise<Dial> {
  const context = await browser.context()
  await context.addInitScript(installPeers)
  const pages = new Map<RunnerFixture, Promise<Page>>()
  const open = async (runner: RunnerFixture): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(`${runner.url}/status`)
    return page
  }
  return async (runner, transport, body) => {
    const opening = pages.get(runner) ?? open(runner)
    pages.set(runner, opening)
    const page = await opening
    const { sessionId = '' } = await runner.start({ transport, body })
    await page.evaluate((id) => (globalThis as unknown as BrowserGlobals).peers.dial(id), sessionId)
    const look = () =>
      page.evaluate((id) => (globalThis as unknown as BrowserGlobals).peers.look(id), sessionId)
    return {
      transport,
      sessionId,
      ended: async () => {
        const { messages } = await until(async () => {
          const seen = await look()
          return seen.closed && seen
        }, 'the data channel to be closed')
        const error = messages.find(({ type }) => type === 'error')
        return { words: String(error?.data?.error) }
      },
      press: (key) =>
        page.evaluate(([id, pressed]) => (globalThis as unknown as BrowserGlobals).peers.press(id, pressed), [
          sessionId,
          key,
        ] as const),
      leave: () =>
        page.evaluate((id) => (globalThis as unknown as BrowserGlobals).peers.leave(id), sessionId),
    }
  }
}
