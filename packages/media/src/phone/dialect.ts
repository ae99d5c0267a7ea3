import type { CarrierId } from '@botcli/protocol'
import type { AudioCoding } from '../carriers/coding.ts'
import type { ChunkRule } from '../carriers/dialect.ts'

/** What a carrier knows of a call before it begins. */
export interface CallSetup {
  readonly callId: string
  readonly streamId: string
  readonly accountId: string
  readonly from: string
  readonly to: string
  /** What the user of the carrier gave to be handed on. */
  readonly custom: Readonly<Record<string, string>>
  readonly coding: AudioCoding
}

/** A piece of the caller's sound on its way. */
export interface Packet {
  readonly chunk: number
  /** Milliseconds since the stream began. */
  readonly atMs: number
  readonly payload: string
}

/** What a runner asks of its carrier. */
export type Order =
  | { readonly kind: 'media'; readonly payload: string }
  | { readonly kind: 'mark'; readonly name: string }
  | { readonly kind: 'clear' }
  | { readonly kind: 'keys'; readonly keys: string }
  /** What the real carrier would not take, and why. */
  | { readonly kind: 'violation'; readonly message: string }

/** Pieces of sound that a carrier takes. */
export interface PieceRule extends ChunkRule {
  readonly maxBytes: number
}

/** The carrier's half of its own language. It knows nothing of time, sockets or samples. */
export interface PhoneDialect {
  readonly carrier: CarrierId
  /** How much sound it puts into a message. */
  readonly packetMs: number
  /** How its sound can be coded; the first is what it does when nobody asks. */
  readonly codings: readonly AudioCoding[]
  readonly pieces?: (coding: AudioCoding) => PieceRule
  /** Whether marks behind what a clear drops are answered; otherwise they are lost. */
  readonly marksOnClear: boolean
  ids(): Pick<CallSetup, 'callId' | 'streamId' | 'accountId'>
  /** How it expects the bot's sound when the caller's is coded like this. */
  expects(coding: AudioCoding): AudioCoding
  /** What it says before its start. */
  readonly greeting: readonly string[]
  start(setup: CallSetup, sequence: number): string
  media(setup: CallSetup, sequence: number, packet: Packet): string
  key(setup: CallSetup, sequence: number, key: string, atMs: number): string
  played(setup: CallSetup, sequence: number, mark: string): string
  /** Where it tells that it has cleared. */
  cleared?(setup: CallSetup, sequence: number): string
  stop(setup: CallSetup, sequence: number): string
  /** Where it says so when it does not like what it was sent. */
  complaint?(setup: CallSetup, detail: string): string
  /** Understands one message of the runner as strictly as the real carrier. */
  read(setup: CallSetup, message: unknown): Order
}

interface Checked<Message> {
  readonly data?: Message
  readonly error?: {
    readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
  }
}

/** Checks a message by its schema, and its stream id where it has one. */
export function orderOf<Message extends { readonly event: string }>(
  checked: Checked<Message>,
  ownStream: string | undefined,
  streamOf: (message: Message) => string | undefined,
  understand: (message: Message) => Order,
): Order {
  const { data, error } = checked
  if (data === undefined) {
    const [issue] = error?.issues ?? []
    const where = issue === undefined || issue.path.length === 0 ? 'the message' : issue.path.join('.')
    return {
      kind: 'violation',
      message: `A message is not in this carrier's language: ${where}: ${issue?.message}`,
    }
  }
  const stream = streamOf(data)
  if (ownStream !== undefined && stream !== undefined && stream !== ownStream) {
    return { kind: 'violation', message: `A ${data.event} message names stream ${stream}, not ${ownStream}` }
  }
  return understand(data)
}

/** Ids as the carriers make them. */
export function hexId(prefix = ''): string {
  return `${prefix}${crypto.randomUUID().replaceAll('-', '')}`
}
