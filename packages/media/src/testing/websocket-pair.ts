import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { SessionOutcome } from '@botcli/protocol'
import { WebSocket, WebSocketServer } from 'ws'
import { WebsocketWire } from '../websocket/websocket-wire.ts'
import type { AudioFormat } from '../wire.ts'

/** A real client, a real connection, and the wire at its other end with a record of what it told. */
export class WebsocketPair {
  readonly client: WebSocket
  readonly wire: WebsocketWire
  readonly told: string[] = []
  readonly heard: Int16Array[] = []
  readonly messages: unknown[] = []
  /** What the client got, as it came. */
  readonly received: { readonly data: Buffer; readonly isBinary: boolean }[] = []
  closed: { readonly code: number; readonly reason: string } | undefined
  readonly #server: WebSocketServer

  private constructor(server: WebSocketServer, client: WebSocket, websocket: WebSocket, pingMs?: number) {
    this.#server = server
    this.client = client
    client.on('message', (data: Buffer, isBinary: boolean) => this.received.push({ data, isBinary }))
    client.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
    })
    client.on('error', () => {})
    this.wire = new WebsocketWire({
      websocket,
      clock: () => 42,
      ...(pingMs === undefined ? {} : { pingIntervalMs: pingMs }),
      events: {
        connected: () => this.told.push('connected'),
        disconnected: () => this.told.push('disconnected'),
        gone: (cause) => this.told.push(cause),
        audio: (samples) => this.heard.push(samples),
        message: (message) => this.messages.push(message),
        dtmf: (keys) => this.told.push(keys),
      },
    })
  }

  static async open(
    options: { readonly format?: AudioFormat; readonly pingMs?: number; readonly autoPong?: boolean } = {},
  ): Promise<WebsocketPair> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: 1024 * 1024 })
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const client = new WebSocket(`ws://127.0.0.1:${port}`, { autoPong: options.autoPong ?? true })
    const [[websocket]] = await Promise.all([once(server, 'connection'), once(client, 'open')])
    const pair = new WebsocketPair(server, client, websocket as WebSocket, options.pingMs)
    if (options.format !== undefined) pair.wire.setFormat(options.format)
    return pair
  }

  async close(
    outcome: SessionOutcome = { result: 'ok', cause: 'stopped', message: 'The test is over.' },
  ): Promise<void> {
    this.wire.close(outcome)
    this.client.terminate()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
