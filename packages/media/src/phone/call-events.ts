import type { CarrierId } from '@botcli/protocol'
import type { AudioCoding } from '../carriers/coding.ts'

/** Who ended a call: the caller, the runner, or nobody on purpose. */
export type EndedBy = 'caller' | 'runner' | 'network'

/** One thing that happened in a call. */
export type CallHappening =
  | ({ readonly type: 'dialled' } & CallFacts)
  /** The socket is open. */
  | { readonly type: 'answered' }
  | { readonly type: 'refused'; readonly status?: number; readonly message: string }
  /** The carrier has begun its stream. */
  | { readonly type: 'started' }
  | { readonly type: 'caller_started'; readonly what: string; readonly ms: number }
  | { readonly type: 'caller_stopped'; readonly what: string }
  | { readonly type: 'key_pressed'; readonly key: string }
  /** The first sound that is no silence, when it arrived. */
  | ({ readonly type: 'first_audio'; readonly afterStartMs: number } & Answer)
  /** The caller hears the bot; `at` is a place in the recording. */
  | ({ readonly type: 'turn_started' } & Answer)
  | {
      readonly type: 'turn_ended'
      readonly ms: number
      readonly gaps: number
      readonly gapMs: number
      /** A clear, or the end of the call, took the rest of it. */
      readonly cut: boolean
    }
  /** Inside of a turn there was nothing to play. `at` is where it began. */
  | { readonly type: 'gap'; readonly ms: number }
  | { readonly type: 'cleared'; readonly droppedMs: number }
  | { readonly type: 'mark_asked'; readonly name: string }
  | { readonly type: 'mark_played'; readonly name: string; readonly dropped: boolean }
  | { readonly type: 'keys_received'; readonly keys: string }
  /** The real carrier would not have taken this. */
  | { readonly type: 'violation'; readonly message: string }
  | { readonly type: 'misbehaved'; readonly message: string }
  | { readonly type: 'hung_up'; readonly why: string }
  | {
      readonly type: 'closed'
      readonly by: EndedBy
      readonly code: number
      readonly reason: string
      /** Sound of the bot that nobody heard. */
      readonly unplayedMs: number
    }

/** How a sound of the bot lies to what the caller said last; nothing when the caller has not spoken. */
export interface Answer {
  /** Since the caller had finished. */
  readonly afterSaidMs?: number
  /** Since the caller began, while the caller still speaks. */
  readonly whileSayingMs?: number
}

/** What is known when the number is dialled. */
export interface CallFacts {
  readonly url: string
  readonly carrier: CarrierId
  readonly callId: string
  readonly streamId: string
  readonly from: string
  readonly to: string
  readonly coding: AudioCoding
}

/** Something that happened, with the milliseconds since the number was dialled. */
export type CallEvent = { readonly at: number } & CallHappening

/** A call lasts hours at most; a runner that floods its carrier must not fill the memory of it. */
const MAX_EVENTS = 20_000

/** What happened in a call, in order. Its listener hears each event once, never out of order. */
export class TimeLine {
  readonly #events: CallEvent[] = []
  readonly #listener: (event: CallEvent) => void
  #held: CallEvent[] = []

  constructor(listener: (event: CallEvent) => void) {
    this.#listener = listener
  }

  get events(): readonly CallEvent[] {
    return this.#events
  }

  /** Takes an event in. Nobody hears of it before the next release, because an earlier one may still be found. */
  add(at: number, happening: CallHappening): void {
    if (this.#events.length + this.#held.length >= MAX_EVENTS && happening.type !== 'closed') return
    this.#held.push({ at: Math.round(at), ...happening })
  }

  /** Tells what happened until then. */
  release(until = Number.POSITIVE_INFINITY): void {
    if (!this.#held.some(({ at }) => at <= until)) return
    const ready = this.#held.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
    this.#held = this.#held.filter(({ at }) => at > until)
    this.#events.push(...ready)
    for (const event of ready) this.#listener(event)
  }
}
