import { type ClientFrame, decodeClientFrame, encodeClientFrame, rtviMessage } from '@botcli/protocol'
import { WebSocket } from 'ws'
import { until } from './runner-fixture.ts'

/** A message of the bot, as a client reads it. */
export interface ReceivedMessage {
  readonly type: string
  readonly id: string
  readonly data?: Record<string, unknown>
}

/** A plain WebSocket client that speaks the protobuf framing. */
export class WebsocketClient {
  readonly websocket: WebSocket
  readonly messages: ReceivedMessage[] = []
  readonly samples: number[] = []
  closed: { readonly code: number; readonly reason: string } | undefined

  constructor(url: string, headers: Record<string, string> = {}) {
    this.websocket = new WebSocket(url, { headers })
    this.websocket.on('message', (data: Buffer) => this.#onFrame(decodeClientFrame(data)))
    this.websocket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
    })
    this.websocket.on('error', () => {})
  }

  /** A client that has connected. */
  static async connect(url: string, headers: Record<string, string> = {}): Promise<WebsocketClient> {
    const client = new WebsocketClient(url, headers)
    await until(() => client.websocket.readyState === WebSocket.OPEN, `a connection to ${url}`)
    return client
  }

  /** What a refused upgrade is answered with. */
  static refusal(
    url: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Record<string, unknown>; body: Record<string, string> }> {
    return new Promise((resolve, reject) => {
      const websocket = new WebSocket(url, { headers })
      websocket.on('open', () => {
        websocket.terminate()
        reject(new Error('the upgrade was not refused'))
      })
      websocket.on('error', () => {})
      websocket.on('unexpected-response', async (_request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk as Buffer)
        const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, string>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
      })
    })
  }

  send(frame: ClientFrame): void {
    this.websocket.send(encodeClientFrame(frame))
  }

  sendMessage(type: string, data?: unknown): void {
    this.send({ kind: 'message', data: JSON.stringify(rtviMessage(type, data)) })
  }

  /** Sends a tone of so many milliseconds in real time. */
  async sendTone(frequency: number, ms: number): Promise<void> {
    for (let sent = 0; sent < ms; sent += 20) {
      const samples = Int16Array.from({ length: 320 }, (_, index) =>
        Math.round(8000 * Math.sin((2 * Math.PI * frequency * ((sent / 20) * 320 + index)) / 16_000)),
      )
      this.send({ kind: 'audio', audio: new Uint8Array(samples.buffer), sampleRate: 16_000, channels: 1 })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  message(type: string): Promise<ReceivedMessage> {
    return until(() => this.messages.find((message) => message.type === type), `a ${type} message`)
  }

  whenClosed(): Promise<{ readonly code: number; readonly reason: string }> {
    return until(() => this.closed, 'the connection to be closed')
  }

  close(): void {
    this.websocket.close()
  }

  #onFrame(frame: ClientFrame | undefined): void {
    if (frame?.kind === 'message') this.messages.push(JSON.parse(frame.data) as ReceivedMessage)
    if (frame?.kind === 'audio') {
      const samples = new Int16Array(frame.audio.slice().buffer)
      for (const sample of samples) this.samples.push(sample)
    }
  }
}

/**
 * How strong a frequency is, from 0 to 1 of all energy, in the better half of short pieces: an echo has gaps on a machine that
 * has too much to do, but what is there must be the tone.
 */
export function toneShare(samples: ArrayLike<number>, frequency: number, rate: number): number {
  const length = rate / 20
  const shares: number[] = []
  for (let start = 0; start + length <= samples.length; start += length) {
    shares.push(shareOf(samples, start, length, (2 * Math.PI * frequency) / rate))
  }
  const better = shares.sort((a, b) => b - a).slice(0, Math.ceil(shares.length / 2))
  return better.reduce((sum, share) => sum + share, 0) / Math.max(1, better.length)
}

function shareOf(samples: ArrayLike<number>, start: number, length: number, step: number): number {
  let real = 0
  let imaginary = 0
  let energy = 0
  for (let index = 0; index < length; index += 1) {
    const sample = samples[start + index] ?? 0
    real += sample * Math.cos(step * index)
    imaginary += sample * Math.sin(step * index)
    energy += sample * sample
  }
  return energy === 0 ? 0 : (2 * (real * real + imaginary * imaginary)) / (length * energy)
}
