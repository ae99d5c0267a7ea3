import { WebSocket } from 'ws'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'
import type { CloudHouse } from './cloud-house.ts'

const EVERY_MS = 30

/** A call to a counting bot that asks for a number again and again, and hears whether every one comes back. */
export class CountingCall {
  readonly sessionId: string
  readonly client: WebsocketClient
  readonly #timer: NodeJS.Timeout
  #asked = 0

  private constructor(sessionId: string, client: WebsocketClient) {
    this.sessionId = sessionId
    this.client = client
    this.#timer = setInterval(() => {
      if (client.closed) return
      this.#asked += 1
      client.sendMessage('client-message', { t: 'count', d: this.#asked })
      client.send({ kind: 'audio', audio: new Uint8Array(640), sampleRate: 16_000, channels: 1 })
    }, EVERY_MS)
  }

  /** Starts a session and connects to it. */
  static async begin(house: CloudHouse, agent: string): Promise<CountingCall> {
    const { status, body } = await house.startSession(agent)
    if (status !== 200) throw new Error(`no session: ${status} ${JSON.stringify(body)}`)
    return CountingCall.join(body.sessionId, body.wsUrl)
  }

  /** Connects to a session that was started. */
  static async join(sessionId: string, wsUrl: string): Promise<CountingCall> {
    const client = new WebsocketClient(wsUrl)
    await until(() => {
      if (client.closed) throw new Error(`nobody is at ${wsUrl}`)
      return client.websocket.readyState === WebSocket.OPEN
    }, `a connection to ${wsUrl}`)
    client.sendMessage('client-ready', { version: '2.2.0' })
    await until(() => {
      if (client.closed) throw new Error(`${wsUrl} was closed: ${JSON.stringify(client.closed)}`)
      return client.messages.some(({ type }) => type === 'bot-ready')
    }, 'the bot to be ready')
    return new CountingCall(sessionId, client)
  }

  /** The numbers that came back, as they came. */
  get heard(): readonly number[] {
    return this.client.messages
      .filter(({ type }) => type === 'server-response')
      .map(({ data }) => Number(data?.d))
  }

  /** Waits until frames have gone both ways from now on: numbers and sound. */
  async goesOn(): Promise<void> {
    const numbers = this.#asked
    const samples = this.client.samples.length
    await until(() => {
      if (this.client.closed) throw new Error(`the call was closed: ${JSON.stringify(this.client.closed)}`)
      return (this.heard.at(-1) ?? 0) > numbers + 3 && this.client.samples.length > samples
    }, `the call ${this.sessionId} to go on`)
  }

  /** Whether every number came back once and in order, but for those that are on their way. */
  get isComplete(): boolean {
    return this.heard.every((number, index) => number === index + 1)
  }

  ask(type: string): void {
    this.client.sendMessage('client-message', { t: type })
  }

  async hangUp(): Promise<void> {
    clearInterval(this.#timer)
    this.client.close()
    await this.client.whenClosed()
  }
}
