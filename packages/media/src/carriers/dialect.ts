import type { CarrierId, CarrierMedia } from '@botcli/protocol'
import type { AudioCoding } from './coding.ts'

/** What a carrier tells of a call when it begins. */
export interface CarrierStart {
  readonly callId: string
  readonly streamId: string
  /** Phone numbers, where the carrier tells them or the call's parameters do. */
  readonly from?: string
  readonly to?: string
  /** What the user of the carrier gave to be handed on. */
  readonly custom: Readonly<Record<string, string>>
  /** How the caller's sound is coded. */
  readonly hears: AudioCoding
  /** How the carrier expects the bot's. */
  readonly speaks: AudioCoding
}

interface OfStream {
  /** Where the carrier says so; one socket is one stream. */
  readonly streamId?: string | undefined
}

/** A message of a carrier, understood. */
export type CarrierEvent = OfStream &
  (
    | { readonly kind: 'started'; readonly start: CarrierStart }
    /** A call that begins in a way that we cannot serve. */
    | { readonly kind: 'refused'; readonly reason: string }
    | { readonly kind: 'media'; readonly chunk: number | undefined; readonly payload: string }
    | { readonly kind: 'dtmf'; readonly keys: string }
    /** Everything before this mark was played, or dropped by a clear. */
    | { readonly kind: 'played'; readonly mark: string }
    | { readonly kind: 'stopped' }
    /** The carrier did not like what it was sent. */
    | { readonly kind: 'fault'; readonly message: string }
    | { readonly kind: 'ignored' }
    /** Well formed, but nothing that this carrier is known to send. */
    | { readonly kind: 'unknown' }
    | { readonly kind: 'bad' }
  )

/** In what pieces a carrier wants its sound. */
export interface ChunkRule {
  readonly minBytes: number
  readonly stepBytes: number
}

/** The language of one carrier. It knows its JSON and nothing of time, sockets or samples. */
export interface CarrierDialect {
  readonly transport: CarrierId
  /** Steps of 20 ms are right where there is no rule. */
  readonly chunks?: ChunkRule
  /** Understands one message, whatever it is. */
  read(message: unknown): CarrierEvent
  /** Sound, already coded and in base64. */
  media(call: CarrierStart, payload: string): string
  /** Makes the carrier drop what it has not played. */
  clear(call: CarrierStart): string
  /** Asks to be told when everything so far was played. */
  mark(call: CarrierStart, name: string): string
  /** Keys, where the carrier can press them; elsewhere they are sounds. */
  dtmf?(keys: string): string
}

/** What is not ours to understand, but well formed. */
export function otherEvent(message: unknown, known: readonly string[]): CarrierEvent {
  const event =
    typeof message === 'object' && message !== null && 'event' in message ? message.event : undefined
  return { kind: typeof event === 'string' && !known.includes(event) ? 'unknown' : 'bad' }
}

/** Carriers count in numbers or in digits. */
export function countOf(count: number | string | undefined): number | undefined {
  return count === undefined ? undefined : Number(count)
}

/** The caller's half of the sound; the other one is the bot's own voice. */
export function mediaEvent(streamId: string | undefined, media: CarrierMedia): CarrierEvent {
  if (media.track?.startsWith('outbound')) return { kind: 'ignored' }
  return { kind: 'media', streamId, chunk: countOf(media.chunk), payload: media.payload }
}
