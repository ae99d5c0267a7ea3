import type { SessionOutcome } from '@botcli/protocol'
import type { AudioFormat, Wire, WireEvents } from '../wire.ts'

/** A wire without a caller: a test plays the caller, and reads what the caller would have got. */
export class RecordingWire implements Wire {
  eager = false
  readonly events: WireEvents
  readonly sound: Int16Array[] = []
  readonly messages: unknown[] = []
  readonly keys: string[] = []
  readonly closings: SessionOutcome[] = []
  format: AudioFormat | undefined
  quietSteps = 0
  clears = 0
  messageBacklog = 0
  readonly finished = Promise.resolve()
  takesMessages = true
  readonly counters = { audioInConcealedMs: 0, badMessages: 0 }

  constructor(events: WireEvents) {
    this.events = events
  }

  setFormat(format: AudioFormat): void {
    this.format = format
  }

  sendAudio(samples: Int16Array): void {
    this.sound.push(samples)
  }

  sendNothing(): void {
    this.quietSteps += 1
  }

  clear(): void {
    this.clears += 1
  }

  sendMessage(message: unknown): boolean {
    if (!this.takesMessages) return false
    this.messages.push(message)
    return true
  }

  sendDtmf(keys: string): void {
    this.keys.push(keys)
  }

  close(outcome: SessionOutcome): void {
    this.closings.push(outcome)
  }
}
