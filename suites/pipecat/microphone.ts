import { Ticker } from '@botcli/audio'
import { VOICE_SAMPLE_RATE, Voice } from '../../examples/demo/voice.ts'

const STEP_MS = 20
const STEP_SAMPLES = (VOICE_SAMPLE_RATE * STEP_MS) / 1000

/** The rate of a microphone's sound. */
export const MICROPHONE_RATE = VOICE_SAMPLE_RATE

/** A sentence, spoken by a voice that a detector of voices takes for one. */
export async function spoken(text: string): Promise<Int16Array> {
  const voice = new Voice()
  const parts: Int16Array[] = []
  for await (const { sound } of voice.speak(text)) parts.push(sound)
  return Int16Array.from(parts.flatMap((part) => [...part]))
}

/** Sends sound in real time, and silence while there is nothing to say. */
export class Microphone {
  readonly #send: (samples: Int16Array) => void
  readonly #stop: () => void
  #queue = new Int16Array()

  constructor(send: (samples: Int16Array) => void) {
    this.#send = send
    this.#stop = new Ticker({ intervalMs: STEP_MS, maxCatchUp: 50 }).add(() => this.#step())
  }

  say(samples: Int16Array): void {
    this.#queue = Int16Array.from([...this.#queue, ...samples])
  }

  close(): void {
    this.#stop()
  }

  #step(): void {
    const step = new Int16Array(STEP_SAMPLES)
    step.set(this.#queue.subarray(0, STEP_SAMPLES))
    this.#queue = this.#queue.subarray(STEP_SAMPLES)
    this.#send(step)
  }
}
