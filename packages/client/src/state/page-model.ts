import { batch, computed, signal } from '@preact/signals'
import { currentDevices, NO_DEVICES, watchDevices } from '../media/devices.ts'
import type { BotHost } from '../talk/bot-host.ts'
import { Talk } from '../talk/talk.ts'
import { type EventEntry, eventEntry, eventsMatching, isWorthLogging, withEvent } from './event-log.ts'
import { type Turn, turnOf, withTurn } from './latency.ts'
import { type Ending, type Problem, problemOf } from './problem.ts'
import { type Speaker, speakerAfter } from './speaking.ts'
import { EMPTY_TRANSCRIPT, type Transcript, withMessage, withTyped } from './transcript.ts'
import type { Way } from './ways.ts'

/** Where the page stands. */
export type Phase = 'idle' | 'connecting' | 'ready' | 'ended' | 'failed'

/** The transports that this page itself can talk over. */
export const PAGE_TRANSPORTS = ['webrtc', 'websocket'] as const
export type PageTransport = (typeof PAGE_TRANSPORTS)[number]

const LEVELS_EVERY_MS = 50

/** Everything that the page shows, and everything that a person can do on it. */
export class PageModel {
  readonly phase = signal<Phase>('idle')
  readonly transports = signal<readonly string[]>([])
  readonly transport = signal<PageTransport>('webrtc')
  readonly ways = signal<readonly Way[]>([])
  readonly devices = signal(NO_DEVICES)
  readonly microphoneId = signal('')
  readonly speakerId = signal('')
  readonly muted = signal(false)
  readonly hasMicrophone = signal(true)
  readonly sessionId = signal<string | undefined>(undefined)
  readonly problem = signal<Problem | undefined>(undefined)
  readonly transcript = signal<Transcript>(EMPTY_TRANSCRIPT)
  readonly turns = signal<readonly Turn[]>([])
  readonly events = signal<readonly EventEntry[]>([])
  readonly eventWords = signal('')
  readonly userLevel = signal(0)
  readonly botLevel = signal(0)
  readonly speaking = signal<Speaker>(undefined)

  readonly talking = computed(() => this.phase.value === 'ready')
  readonly busy = computed(() => this.phase.value === 'ready' || this.phase.value === 'connecting')
  /** False when the runner was started for a transport that no page can use. */
  readonly canTalk = computed(() => {
    const offered = this.transports.value
    return offered.length === 0 || PAGE_TRANSPORTS.some((id) => offered.includes(id))
  })
  readonly shownEvents = computed(() => eventsMatching(this.events.value, this.eventWords.value))

  readonly host: BotHost
  readonly #unwatch: () => void
  #talk: Talk | undefined
  #levels: ReturnType<typeof setInterval> | undefined
  #nextId = 1

  constructor(host: BotHost) {
    this.host = host
    this.#unwatch = watchDevices((devices) => {
      this.devices.value = devices
    })
  }

  /** Asks what is offered. */
  async load(): Promise<void> {
    this.ways.value = this.host.ways
    try {
      const transports = await this.host.transports()
      this.transports.value = transports
      if (!transports.includes('webrtc') && transports.includes('websocket'))
        this.transport.value = 'websocket'
    } catch (error) {
      this.problem.value = problemOf(error)
    }
  }

  /** Begins a conversation. */
  async connect(): Promise<void> {
    if (this.busy.value) return
    batch(() => {
      this.phase.value = 'connecting'
      this.problem.value = undefined
      this.sessionId.value = undefined
      this.transcript.value = EMPTY_TRANSCRIPT
      this.turns.value = []
      this.events.value = []
    })
    const talk = new Talk(
      {
        transport: this.transport.value,
        microphoneId: this.microphoneId.value,
        speakerId: this.speakerId.value,
        muted: this.muted.value,
      },
      this.host,
      {
        session: (sessionId) => {
          this.sessionId.value = sessionId
          this.#log('page', 'session', sessionId)
        },
        message: (message) => this.#onMessage(message.type, message.data),
        sent: (type, data) => this.#log('you', type, data),
        problem: (problem) => this.#onProblem(problem),
        ended: (ending) => this.#onEnded(ending),
      },
    )
    this.#talk = talk
    this.#log('page', 'connecting', this.transport.value)
    this.#levels = setInterval(() => this.#readLevels(), LEVELS_EVERY_MS)
    const ready = await talk.open()
    if (this.#talk !== talk) return
    this.devices.value = await currentDevices().catch(() => NO_DEVICES)
    if (!ready || this.#talk !== talk) return
    this.hasMicrophone.value = talk.hasMicrophone
    this.phase.value = 'ready'
  }

  /** Ends the conversation. */
  disconnect(): void {
    this.#talk?.close()
  }

  chooseTransport(transport: PageTransport): void {
    this.transport.value = transport
  }

  async chooseMicrophone(deviceId: string): Promise<void> {
    this.microphoneId.value = deviceId
    await this.#talk?.chooseMicrophone(deviceId)
    if (this.#talk !== undefined) this.hasMicrophone.value = this.#talk.hasMicrophone
  }

  chooseSpeaker(deviceId: string): void {
    this.speakerId.value = deviceId
    this.#talk?.chooseSpeaker(deviceId)
  }

  toggleMute(): void {
    this.muted.value = !this.muted.value
    this.#talk?.setMuted(this.muted.value)
    this.#log('page', this.muted.value ? 'muted' : 'unmuted', undefined)
  }

  async send(text: string): Promise<void> {
    const words = text.trim()
    if (words === '' || !this.talking.value) return
    this.transcript.value = withTyped(this.transcript.value, words, Date.now())
    await this.#try(() => this.#talk?.sendText(words))
  }

  async pressKey(key: string): Promise<void> {
    if (this.talking.value) await this.#try(async () => this.#talk?.pressKey(key))
  }

  filterEvents(words: string): void {
    this.eventWords.value = words
  }

  clearEvents(): void {
    this.events.value = []
  }

  dismissProblem(): void {
    this.problem.value = undefined
  }

  /** Ends the conversation and stops listening to the browser. */
  close(): void {
    this.disconnect()
    this.#unwatch()
  }

  async #try(action: () => Promise<void> | undefined): Promise<void> {
    try {
      await action()
    } catch (error) {
      this.problem.value = { ...problemOf(error), tone: 'warning' }
    }
  }

  #onMessage(type: string, data: unknown): void {
    batch(() => {
      if (isWorthLogging(type)) this.#log('bot', type, data)
      this.transcript.value = withMessage(this.transcript.value, { type, data }, Date.now())
      this.speaking.value = speakerAfter(type, this.speaking.value)
      const turn = type === 'metrics' ? turnOf(data, this.#takeId()) : undefined
      if (turn !== undefined) this.turns.value = withTurn(this.turns.value, turn)
    })
  }

  #onProblem(problem: Problem | undefined): void {
    this.problem.value = problem
    if (problem !== undefined) this.#log('page', problem.tone, `${problem.title} ${problem.detail}`.trim())
  }

  #onEnded(ending: Ending): void {
    clearInterval(this.#levels)
    batch(() => {
      this.#talk = undefined
      this.phase.value = ending.failed ? 'failed' : 'ended'
      this.problem.value = ending.problem
      this.userLevel.value = 0
      this.botLevel.value = 0
      this.speaking.value = undefined
      this.hasMicrophone.value = true
      this.#log('page', ending.failed ? 'failed' : 'ended', ending.problem?.title)
    })
  }

  #readLevels(): void {
    const levels = this.#talk?.levels
    if (levels === undefined) return
    batch(() => {
      this.userLevel.value = levels.user
      this.botLevel.value = levels.bot
    })
  }

  #log(from: EventEntry['from'], type: string, data: unknown): void {
    this.events.value = withEvent(this.events.value, eventEntry(this.#takeId(), Date.now(), from, type, data))
  }

  #takeId(): number {
    const id = this.#nextId
    this.#nextId += 1
    return id
  }
}
