import type { Duplex } from 'node:stream'
import {
  type DataFrame,
  type GuestMessage,
  type GuestPort,
  guestPort,
  type HostMessage,
  type SocketMessage,
} from '@botcli/protocol'
import { until } from './until.ts'

/** A guest that says only what a test lets it say, with a record of what it was told. */
export class ScriptedGuest {
  readonly port: GuestPort
  readonly stream: Duplex
  readonly messages: HostMessage[] = []
  readonly frames: DataFrame[] = []
  closed = false

  constructor(stream: Duplex) {
    this.stream = stream
    this.port = guestPort(stream, {
      message: (message) => {
        this.messages.push(message)
        if (message.type === 'cancel') this.say({ type: 'end', outcome: 'returned' })
      },
      frame: (frame) => this.frames.push(frame),
      closed: () => {
        this.closed = true
      },
    })
  }

  /** What came of its caller's socket. */
  get socketMessages(): readonly SocketMessage[] {
    return this.frames.flatMap((frame) => (frame.kind === 'socket' ? [frame.data] : []))
  }

  /** How many of its own messages its caller's socket has taken, as it was told. */
  get taken(): number {
    return this.frames.reduce((taken, frame) => (frame.kind === 'heard' ? frame.frames : taken), 0)
  }

  say(message: GuestMessage): void {
    this.port.send(message)
  }

  confirm(count: number): void {
    this.port.laterHeard(count)
    this.port.flush()
  }

  /** The first message of this type that it was told. */
  async told<Type extends HostMessage['type']>(type: Type): Promise<Extract<HostMessage, { type: Type }>> {
    const find = () =>
      this.messages.find((message): message is Extract<HostMessage, { type: Type }> => message.type === type)
    await until(`the guest is told ${type}`, () => find() !== undefined)
    return find() as Extract<HostMessage, { type: Type }>
  }
}
