import type { PublicStartResponse } from '@botcli/protocol/cloud'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { WebsocketClient } from '../../../runner/src/testing/websocket-client.ts'
import type { TalkHouse } from './talk-house.ts'
import type { Told } from './telling-bots.ts'

/** Somebody who talks to a bot that tells what it was called with. */
export class TellingCaller {
  readonly sessionId: string
  readonly #client: WebsocketClient

  private constructor({ sessionId }: PublicStartResponse, client: WebsocketClient) {
    this.sessionId = sessionId
    this.#client = client
  }

  static async dial(
    house: TalkHouse,
    agent: string,
    body: Record<string, unknown> = {},
  ): Promise<TellingCaller> {
    const started = await house.start(agent, { transport: 'websocket', body })
    const client = await WebsocketClient.connect(started.wsUrl ?? '')
    client.sendMessage('client-ready', { version: '2.2.0' })
    await client.message('bot-ready')
    return new TellingCaller(started, client)
  }

  /** Asks for something: to print a text, to print its secret (`word`), or to leave. Every answer tells all. */
  async ask(request: 'tell' | 'print' | 'word' | 'leave', data?: string): Promise<Told> {
    const answers = () => this.#client.messages.filter(({ type }) => type === 'server-response')
    const before = answers().length
    this.#client.sendMessage('client-message', { t: request, d: data })
    const answer = await until(() => answers()[before], `an answer to ${request}`)
    return answer.data?.d as Told
  }

  /** Waits until the other side has ended the call. */
  async ended(): Promise<void> {
    await this.#client.whenClosed()
  }

  hangUp(): void {
    this.#client.close()
  }
}
