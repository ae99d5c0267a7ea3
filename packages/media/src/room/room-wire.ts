import type { Wire, WireCounters, WireEvents } from '../wire.ts'

/** Stands where a wire would be when the bot itself goes to where its callers are, such as a provider's room. */
export class RoomWire implements Wire {
  readonly eager = false
  readonly messageBacklog = 0
  readonly finished = Promise.resolve()
  readonly counters: WireCounters = { audioInConcealedMs: 0, badMessages: 0 }

  constructor(events: WireEvents) {
    // Nobody is to be waited for: the bot may begin at once.
    events.connected()
  }

  setFormat(): void {}

  sendAudio(): void {}

  sendNothing(): void {}

  clear(): void {}

  sendMessage(): boolean {
    return false
  }

  sendDtmf(): void {}

  close(): void {}
}
