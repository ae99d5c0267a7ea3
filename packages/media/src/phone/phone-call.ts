import { type SetTimer, Ticker } from '@botcli/audio'
import type { CarrierId } from '@botcli/protocol'
import type { WebSocket } from 'ws'
import type { AudioCoding } from '../carriers/coding.ts'
import { type CallEvent, type CallFacts, type EndedBy, TimeLine } from './call-events.ts'
import { type CallReport, reportOf } from './call-report.ts'
import { Caller, type CallerStep } from './caller.ts'
import type { CallSetup } from './dialect.ts'
import { PHONES } from './dialects.ts'
import { Line } from './line.ts'
import type { Misbehaviours } from './misbehaviours.ts'
import { PhoneStream, STEP_MS } from './phone-stream.ts'
import { seededRandom } from './random.ts'
import { connectAsCarrier, PhoneSocket } from './socket.ts'

/** A runner that is told of the end gets this long to close before the connection is dropped. */
const CLOSE_PATIENCE_MS = 2000
const MISCHIEF_AFTER_MS = 1000
/** After a stall of the machine, so many steps are made up for at once. */
const MAX_CATCH_UP = 500

/** What a call can be told. Only the address has no default. */
export interface PhoneCallOptions {
  /** The runner's WebSocket. */
  readonly url: string
  /** Carriers send none; a runner with a list of origins may ask for it. */
  readonly origin?: string
  readonly carrier?: CarrierId
  /** What the caller does. Without a `hangUp` the call lasts until the other side or the limit ends it. */
  readonly script?: readonly CallerStep[]
  readonly from?: string
  readonly to?: string
  readonly custom?: Readonly<Record<string, string>>
  /** One of the codings of the carrier. */
  readonly coding?: AudioCoding
  readonly misbehaviours?: Misbehaviours
  /** Speech and misbehaviour are the same for the same seed. */
  readonly seed?: number
  /** The call is hung up after this long; a minute unless told otherwise. */
  readonly limitMs?: number
  /** A runner that has not answered by then is given up. */
  readonly answerMs?: number
  /** Ids of the call instead of fresh ones. */
  readonly ids?: Pick<CallSetup, 'callId' | 'streamId' | 'accountId'>
  /** Hears everything as it happens. */
  readonly onEvent?: (event: CallEvent) => void
  /** Hangs up. */
  readonly signal?: AbortSignal
  readonly clock?: () => number
  readonly setTimer?: SetTimer
  readonly connect?: (url: string, answerMs: number, origin?: string) => WebSocket
}

/** A call that is played as its carrier would, from dialling to the end. */
export class PhoneCall {
  readonly facts: CallFacts
  /** Resolves, and never rejects, when the call is over. */
  readonly ended: Promise<CallReport>
  readonly #options: PhoneCallOptions
  readonly #setup: CallSetup
  readonly #timeLine: TimeLine
  readonly #caller: Caller
  readonly #line: Line
  readonly #socket: PhoneSocket
  readonly #ticker: Ticker
  readonly #clock: () => number
  readonly #setTimer: SetTimer
  readonly #cancels = new Set<() => void>()
  readonly #dialledAt: number
  #finish: (report: CallReport) => void = () => {}
  #state: 'dialling' | 'talking' | 'ending' | 'over' = 'dialling'
  #stream: PhoneStream | undefined
  #second: PhoneCall | undefined
  #unsaid = 0
  /** Nothing can be said on this connection any more. */
  #isBroken = false

  /** Dials. Whatever happens is told by the events and by `ended`. */
  constructor(options: PhoneCallOptions) {
    const { carrier = 'telephony_a', seed = 1, misbehaviours = {} } = options
    const dialect = PHONES[carrier]
    const [usual] = dialect.codings
    const coding = options.coding ?? usual ?? { codec: 'pcmu', rate: 8000 }
    const { from = '+15550100', to = '+15550199', custom = {} } = options
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
    this.#setTimer = options.setTimer ?? systemTimer
    this.#dialledAt = this.#clock()
    this.#setup = { ...(options.ids ?? dialect.ids()), from, to, custom, coding }
    const { callId, streamId } = this.#setup
    this.facts = { url: shownUrl(options.url), carrier, callId, streamId, from, to, coding }
    this.ended = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#timeLine = new TimeLine(options.onEvent ?? (() => {}))
    this.#ticker = new Ticker({
      intervalMs: STEP_MS,
      now: this.#clock,
      setTimer: this.#setTimer,
      maxCatchUp: MAX_CATCH_UP,
    })
    this.#line = new Line({
      misbehaviours,
      random: seededRandom(seed),
      clock: this.#clock,
      setTimer: this.#setTimer,
      send: (message) => this.#socket.send(message),
    })
    this.#caller = new Caller({
      rate: coding.rate,
      stepMs: STEP_MS,
      seed,
      script: options.script ?? [],
      bot: () => this.#stream?.ear,
      tell: (at, happening) => this.#timeLine.add(at, happening),
      press: (key) => this.#stream?.press(key),
      hangUp: () => this.hangUp('the script is done'),
    })
    this.#timeLine.add(0, { type: 'dialled', ...this.facts })
    this.#timeLine.release()
    this.#socket = this.#connect()
    this.#after(options.limitMs ?? 60_000, () => {
      this.#unsaid = this.#caller.unsaid
      this.hangUp('the time is up')
    })
    options.signal?.addEventListener('abort', this.#onAbort)
    if (options.signal?.aborted) this.#onAbort()
  }

  /** What has happened so far, as far as it is certain. */
  get events(): readonly CallEvent[] {
    return this.#timeLine.events
  }

  /** Presses keys besides the script. */
  press(keys: string): void {
    this.#caller.press(keys)
  }

  /** Adds to the script. */
  add(...steps: readonly CallerStep[]): void {
    this.#caller.add(steps)
  }

  /** Ends the call as its carrier would. */
  hangUp(why = 'the caller wants no more'): void {
    if (this.#state === 'ending' || this.#state === 'over') return
    const wasTalking = this.#state === 'talking'
    this.#state = 'ending'
    this.#endSecond()
    this.#timeLine.add(this.#now(), { type: 'hung_up', why })
    if (!wasTalking || this.#isBroken || this.#options.misbehaviours?.['no-stop']) {
      this.#socket.drop()
      return
    }
    this.#stream?.stop()
    this.#socket.resume()
    this.#socket.close()
    this.#after(CLOSE_PATIENCE_MS, () => this.#socket.drop())
  }

  /** Hangs up, and waits until nothing of the call is left. */
  async close(): Promise<CallReport> {
    this.hangUp()
    return this.ended
  }

  #connect(): PhoneSocket {
    const { url, origin, answerMs = 10_000, connect = connectAsCarrier } = this.#options
    return new PhoneSocket(connect(url, answerMs, origin), {
      open: () => this.#onOpen(),
      refused: (message, status) => {
        if (this.#state !== 'dialling') return
        this.#timeLine.add(this.#now(), { type: 'refused', message, ...(status !== undefined && { status }) })
      },
      message: (data, isBinary) => this.#stream?.receive(data, isBinary),
      closed: (code, reason) => this.#onClosed(code, reason),
    })
  }

  #onOpen(): void {
    if (this.#state !== 'dialling') return
    this.#state = 'talking'
    this.#timeLine.add(this.#now(), { type: 'answered' })
    this.#stream = new PhoneStream({
      dialect: PHONES[this.facts.carrier],
      setup: this.#setup,
      caller: this.#caller,
      line: this.#line,
      ticker: this.#ticker,
      now: () => this.#now(),
      tell: (at, happening) => this.#timeLine.add(at, happening),
      settled: (until) => this.#timeLine.release(until),
    })
    this.#misbehave()
  }

  #onClosed(code: number, reason: string): void {
    if (this.#state === 'over') return
    const by = this.#endedBy(code)
    this.#state = 'over'
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    const unplayedMs = Math.round(this.#stream?.ear.unplayedMs ?? 0)
    this.#stream?.close()
    this.#line.close()
    this.#ticker.close()
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
    this.#endSecond()
    this.#timeLine.add(this.#now(), { type: 'closed', by, code, reason, unplayedMs })
    this.#timeLine.release()
    const report = this.#report()
    Promise.resolve(this.#second?.ended).then(() => this.#finish(report))
  }

  #endedBy(code: number): EndedBy {
    if (this.#state === 'ending') return 'caller'
    return code === 1006 ? 'network' : 'runner'
  }

  #report(): CallReport {
    return reportOf(this.facts, this.#timeLine.events, {
      receivedMs: this.#stream?.receivedMs ?? 0,
      violations: this.#stream?.violations ?? [],
      violationCount: this.#stream?.violationCount ?? 0,
      mischief: this.#line.mischief,
      unsaid: this.#unsaid,
      said: this.#stream?.said() ?? new Int16Array(),
      heard: this.#stream?.ear.recording() ?? new Int16Array(),
    })
  }

  #misbehave(): void {
    const wrong = this.#options.misbehaviours ?? {}
    const when = (seconds: number | undefined, message: string, act: () => void) => {
      if (seconds === undefined) return
      this.#after(seconds * 1000, () => {
        if (this.#state !== 'talking') return
        this.#timeLine.add(this.#now(), { type: 'misbehaved', message })
        act()
      })
    }
    const soon = MISCHIEF_AFTER_MS / 1000
    const pausedMs = (wrong['slow-reader'] ?? 0) * 1000
    when(pausedMs > 0 ? soon : undefined, `reads nothing for ${pausedMs / 1000} s`, () => {
      this.#socket.pause()
      this.#after(pausedMs, () => this.#socket.resume())
    })
    when(wrong['second-start'] && soon, 'starts a second time on the same socket', () =>
      this.#stream?.start(),
    )
    when(wrong['same-id'] && soon, 'a second call comes with the same ids', () => this.#dialAgain())
    when(wrong['half-closed'], 'closes the sending half of the connection', () => {
      this.#break()
      this.#socket.halfClose()
    })
    when(wrong.vanish, 'sends and answers nothing any more', () => {
      this.#break()
      this.#socket.ignore()
    })
  }

  /** From here on the runner hears nothing of this call. */
  #break(): void {
    this.#isBroken = true
    this.#caller.stop()
    this.#line.close()
  }

  /** A second call that looks like this one. */
  #dialAgain(): void {
    const { callId, streamId, accountId } = this.#setup
    const second = new PhoneCall({
      ...this.#options,
      ids: { callId, streamId, accountId },
      misbehaviours: {},
      script: [],
      onEvent: () => {},
    })
    this.#second = second
    second.ended.then(({ refused, closed, receivedMs }) => {
      if (this.#state !== 'talking') return
      const how = refused
        ? `was refused: ${refused.message}`
        : `was ended by the ${closed.by} (code ${closed.code}) ${closed.reason}`
      const message = `the second call ${how}, after ${Math.round(receivedMs)} ms of sound`
      this.#timeLine.add(this.#now(), { type: 'misbehaved', message })
    })
  }

  #endSecond(): void {
    const second = this.#second
    if (second === undefined) return
    if (second.#state === 'talking') {
      const heard = `${Math.round(second.#stream?.receivedMs ?? 0)} ms of sound`
      const message = `the second call was served beside this one, with ${heard}`
      this.#timeLine.add(this.#now(), { type: 'misbehaved', message })
    }
    second.hangUp()
  }

  readonly #onAbort = (): void => this.hangUp('it was stopped')

  #now(): number {
    return this.#clock() - this.#dialledAt
  }

  #after(ms: number, act: () => void): void {
    const cancel = this.#setTimer(() => {
      this.#cancels.delete(cancel)
      act()
    }, ms)
    this.#cancels.add(cancel)
  }
}

/** An address without what may be secret in it. */
function shownUrl(text: string): string {
  const url = new URL(text)
  return `${url.protocol}//${url.host}${url.pathname}${url.search === '' ? '' : '?…'}`
}

function systemTimer(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}
