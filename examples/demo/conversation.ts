import type { AudioFrame, Rtvi, RtviRequest, Transport, TransportEvents, TypedText } from '@botcli/bot'
import type { Clock } from './clock.ts'
import { GREETING, PHONE_GREETING } from './phrases.ts'
import { type Answer, inSeconds, Rules } from './rules.ts'
import { Speaker, type SpeakerTransport } from './speaker.ts'
import type { SpokenClause, Voice } from './voice.ts'
import { type HeardSpeech, VoiceActivity, type VoiceEvent } from './voice-activity.ts'

/** What a conversation needs of a transport. */
export interface ConversationTransport
  extends SpeakerTransport,
    Pick<Transport, 'type' | 'connected' | 'signal' | 'audioInSampleRate'> {
  readonly rtvi: SpeakerTransport['rtvi'] &
    Pick<
      Rtvi,
      | 'onClientReady'
      | 'onText'
      | 'onRequest'
      | 'userStartedSpeaking'
      | 'userStoppedSpeaking'
      | 'userTranscription'
      | 'userInput'
    >
  on<K extends keyof TransportEvents>(event: K, listener: (...args: TransportEvents[K]) => void): unknown
  off<K extends keyof TransportEvents>(event: K, listener: (...args: TransportEvents[K]) => void): unknown
}

/** What a conversation is made of. */
export interface ConversationOptions {
  readonly transport: ConversationTransport
  readonly voice: Voice
  readonly clock: Clock
  /** A number from 0 up to 1, like `Math.random`. */
  readonly random: () => number
}

// A client that speaks RTVI says when it is ready; one that does not is greeted after this time.
const CLIENT_READY_WAIT_MS = 2000
// A client that stops sending in the middle of a word, because it was muted, has finished.
const STREAM_LOST_MS = 800
const ECHO_PEAK = 16_000
const MAX_ECHO_GAIN = 6

/** One caller and the bot, taking turns. */
export class Conversation {
  readonly #transport: ConversationTransport
  readonly #voice: Voice
  readonly #clock: Clock
  readonly #rules: Rules
  readonly #speaker: Speaker
  readonly #activity: VoiceActivity
  readonly #over = new AbortController()
  #failure: { readonly error: unknown } | undefined
  #greeted = false
  #interrupting = false
  #lastSpeech: HeardSpeech | undefined
  #lastSoundAt = 0

  constructor({ transport, voice, clock, random }: ConversationOptions) {
    this.#transport = transport
    this.#voice = voice
    this.#clock = clock
    this.#speaker = new Speaker(transport, clock)
    this.#activity = new VoiceActivity(transport.audioInSampleRate, {
      hasEcho: !transport.type.startsWith('telephony'),
    })
    this.#rules = new Rules({
      random,
      date: () => new Date(clock.now()),
      canEcho: () => this.#lastSpeech !== undefined,
    })
  }

  /** Talks until the session ends or both have said goodbye. Call it once. */
  async run(): Promise<void> {
    const transport = this.#transport
    const over = this.#over.signal
    const connected = (): void => this.#inBackground(this.#greetWhenReady())
    const audio = ({ samples }: AudioFrame): void => this.#hear(samples)
    const keys = (pressed: string): void => this.#answer(this.#rules.toKeys(pressed))
    const leave = (): void => this.#over.abort()

    transport.signal.addEventListener('abort', leave)
    transport.on('connected', connected)
    transport.on('audio', audio)
    transport.on('dtmf', keys)
    transport.rtvi.onClientReady(() => this.#greet())
    transport.rtvi.onText((text) => this.#read(text))
    transport.rtvi.onRequest(refuse)
    try {
      if (transport.signal.aborted) leave()
      if (transport.connected) connected()
      while (!over.aborted) {
        await this.#clock.sleep(STREAM_LOST_MS / 2, over)
        this.#noticeLostStream()
      }
    } finally {
      this.#speaker.close()
      transport.off('connected', connected)
      transport.off('audio', audio)
      transport.off('dtmf', keys)
      transport.signal.removeEventListener('abort', leave)
    }
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async #greetWhenReady(): Promise<void> {
    if (!this.#onPhone) await this.#clock.sleep(CLIENT_READY_WAIT_MS, this.#over.signal)
    this.#greet()
  }

  #greet(): void {
    if (this.#greeted) return
    this.#greeted = true
    // A caller who spoke, typed or pressed a key first already has an answer.
    if (!this.#speaker.busy && !this.#activity.speaking)
      this.#answer({ say: this.#onPhone ? PHONE_GREETING : GREETING })
  }

  get #onPhone(): boolean {
    return this.#transport.type.startsWith('telephony')
  }

  #read({ text, runImmediately, audioResponse }: TypedText): void {
    if (this.#over.signal.aborted) return
    this.#transport.rtvi.userInput(text)
    const answer = this.#rules.toText(text)
    const inWriting = !audioResponse || (!runImmediately && this.#speaker.busy)
    if (!inWriting || answer.afterwards === 'echo') this.#answer(answer)
    else {
      this.#transport.rtvi.botOutput(answer.say, { spoken: false })
      if (answer.afterwards === 'goodbye') this.#over.abort()
    }
  }

  #hear(samples: Int16Array): void {
    this.#lastSoundAt = this.#clock.now()
    this.#handle(this.#activity.hear(samples, this.#speaker.audible))
  }

  #noticeLostStream(): void {
    if (this.#clock.now() - this.#lastSoundAt >= STREAM_LOST_MS) this.#handle(this.#activity.stop())
  }

  #handle(events: readonly VoiceEvent[]): void {
    for (const event of events) {
      if (event.type === 'started') this.#callerStarted()
      else this.#callerStopped(event.speech)
    }
  }

  #callerStarted(): void {
    this.#transport.rtvi.userStartedSpeaking()
    this.#interrupting = this.#speaker.interrupt()
  }

  #callerStopped(speech: HeardSpeech): void {
    this.#lastSpeech = speech
    this.#transport.rtvi.userStoppedSpeaking()
    this.#transport.rtvi.userTranscription(`(${inSeconds(speech.durationMs)} of speech)`)
    // Typing or a key while speaking was answered already.
    if (!this.#speaker.busy) this.#answer(this.#rules.toSpeech(speech, this.#interrupting))
  }

  #answer(answer: Answer): void {
    if (!this.#over.signal.aborted) this.#inBackground(this.#perform(answer))
  }

  async #perform(answer: Answer): Promise<void> {
    const heardAll = await this.#speaker.say((signal) => this.#script(answer, signal))
    if (heardAll && answer.afterwards === 'goodbye') this.#over.abort()
  }

  async *#script(answer: Answer, signal: AbortSignal): AsyncGenerator<SpokenClause, void, undefined> {
    yield* this.#voice.speak(answer.say, signal)
    if (answer.afterwards !== 'echo' || this.#lastSpeech === undefined) return
    const { sound, durationMs } = this.#lastSpeech
    yield { text: `(your own voice, ${inSeconds(durationMs)})`, sound: amplified(sound) }
  }

  /** Work that nobody awaits still ends the conversation when it fails. */
  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => {
      // Whatever breaks when the session is over broke because it is over.
      if (this.#over.signal.aborted || this.#transport.signal.aborted) return
      this.#failure = { error }
      this.#over.abort()
    })
  }
}

function refuse(request: RtviRequest): void {
  request.fail(`The demo bot answers no requests, so ${JSON.stringify(request.type)} has no answer.`)
}

/** Makes a quiet recording easy to hear. */
function amplified(sound: Int16Array): Int16Array {
  const peak = sound.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 1)
  const gain = Math.min(MAX_ECHO_GAIN, Math.max(1, ECHO_PEAK / peak))
  return sound.map((sample) => Math.round(sample * gain))
}
