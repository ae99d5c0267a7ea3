import { type ChildProcess, fork } from 'node:child_process'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import type { Duplex } from 'node:stream'
import {
  type BotRequest,
  type BotResponse,
  type BotStart,
  type IceCandidate,
  outcomeOf,
  type SessionOutcome,
} from '@botcli/protocol'
import { MediaError } from '../errors.ts'
import type { MediaHostOptions, MediaLog } from '../host/local-media-host.ts'
import type {
  CallDoor,
  CarrierCall,
  EvalCaller,
  HostedSessionEvents,
  MediaHost,
  PeerAnswer,
} from '../host/media-host.ts'
import { ANSWER_LIMIT_MS } from '../relay/peer-relay.ts'
import { RESPONSE_LIMIT_MS } from '../session/guest-requests.ts'
import type { MediaEnd } from '../session/hosted-session.ts'
import type { UpgradeRequest } from '../websocket/upgrade.ts'
import type { FromWorker, PackedUpgrade, ToWorker, WorkerCall, WorkerResult } from './messages.ts'

const READY_LIMIT_MS = 15_000
const CALL_LIMIT_MS = 10_000

interface PendingCall {
  readonly resolve: (result: WorkerResult | undefined) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
  /** The session that it opens, as long as the worker has not begun with it. */
  opens?: string | undefined
}

/** A media host in a process of its own. Its sessions end with it, and nothing else does. */
export class MediaWorker implements MediaHost {
  readonly #child: ChildProcess
  readonly #log: MediaLog
  readonly #calls = new Map<number, PendingCall>()
  readonly #sessions = new Map<string, HostedSessionEvents>()
  readonly #exited: Promise<void>
  #nextId = 1
  #ready: () => void = () => {}

  private constructor(log: MediaLog) {
    this.#log = log
    this.#child = fork(createRequire(import.meta.url).resolve('@botcli/media/worker'), {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // A group of its own, so that a Ctrl-C of the terminal reaches only the runner, which decides.
      detached: true,
    })
    prefer(this.#child.pid)
    this.#child.on('message', (message: FromWorker) => this.#onMessage(message))
    // Without a listener a failed send would end the runner; the exit that follows is what counts.
    this.#child.on('error', (error) => log('A media worker could not be reached.', { error: error.message }))
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#onExit(signal ?? `code ${code}`)
        resolve()
      })
    })
  }

  /** Starts a worker and waits until it can take sessions. */
  static async start(options: MediaHostOptions, log: MediaLog): Promise<MediaWorker> {
    const worker = new MediaWorker(log)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, READY_LIMIT_MS, 'late')
    })
    const ready = new Promise<'ready'>((resolve) => {
      worker.#ready = () => resolve('ready')
    })
    worker.#send({ type: 'options', options })
    const result = await Promise.race([ready, worker.#exited.then(() => 'exited' as const), late])
    clearTimeout(timer)
    if (result === 'ready') return worker
    worker.stop()
    throw new MediaError('media_unavailable', `A media worker did not start (${result}).`)
  }

  /** Resolves when the process has ended and its sessions were told. */
  get exited(): Promise<void> {
    return this.#exited
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get load(): number {
    return this.#sessions.size
  }

  async openWebrtc(sessionId: string, offer: string, events: HostedSessionEvents): Promise<PeerAnswer> {
    return (await this.#open({ type: 'open-webrtc', sessionId, offer }, events)) as PeerAnswer
  }

  async openPeerRelay(sessionId: string, offer: string, events: HostedSessionEvents): Promise<void> {
    await this.#open({ type: 'open-peer-relay', sessionId, offer }, events)
  }

  async openWebsocket(
    sessionId: string,
    request: UpgradeRequest,
    socket: Socket,
    passThrough: boolean,
    events: HostedSessionEvents,
  ): Promise<void> {
    const call = { type: 'open-websocket', sessionId, request: packed(request), passThrough } as const
    await this.#open(call, events, socket)
  }

  async openCarrier(
    sessionId: string,
    request: UpgradeRequest,
    socket: Socket,
    door: CallDoor,
    events: HostedSessionEvents,
  ): Promise<CarrierCall | EvalCaller> {
    const call = { type: 'open-carrier', sessionId, request: packed(request), door } as const
    return (await this.#open(call, events, socket)) as CarrierCall | EvalCaller
  }

  async openRoom(sessionId: string, events: HostedSessionEvents): Promise<void> {
    await this.#open({ type: 'open-room', sessionId }, events)
  }

  async join(sessionId: string, link: Duplex, start: BotStart): Promise<void> {
    await this.#ask({ type: 'join', sessionId, start }, link as Socket)
  }

  async negotiate(sessionId: string, offer: string, restart: boolean): Promise<PeerAnswer> {
    const call = { type: 'negotiate', sessionId, offer, restart } as const
    // The bot may have to be asked, and its silence is the host's to tell.
    return (await this.#ask(call, undefined, ANSWER_LIMIT_MS + CALL_LIMIT_MS)) as PeerAnswer
  }

  addCandidates(sessionId: string, candidates: readonly IceCandidate[]): void {
    this.#ask({ type: 'candidates', sessionId, candidates }).catch(() => {})
  }

  async request(sessionId: string, request: BotRequest): Promise<BotResponse> {
    const call = { type: 'request', sessionId, request } as const
    return (await this.#ask(call, undefined, RESPONSE_LIMIT_MS + CALL_LIMIT_MS)) as BotResponse
  }

  async close(sessionId: string, outcome: SessionOutcome, deadlineMs: number): Promise<MediaEnd | undefined> {
    if (!this.#sessions.delete(sessionId)) return undefined
    for (const [id, { opens }] of this.#calls) {
      if (opens === sessionId) this.#take(id)?.reject(endedEarly())
    }
    const call = { type: 'close', sessionId, outcome, deadlineMs } as const
    try {
      return (await this.#ask(call, undefined, deadlineMs + CALL_LIMIT_MS)) as MediaEnd | undefined
    } catch {
      // The worker is gone, and the wire with it.
      return undefined
    }
  }

  /** Ends the process at once; sessions that it still holds are told. */
  stop(): void {
    this.#child.kill('SIGKILL')
  }

  async #open(
    call: WorkerCall,
    events: HostedSessionEvents,
    socket?: Socket,
  ): Promise<WorkerResult | undefined> {
    this.#sessions.set(call.sessionId, events)
    try {
      return await this.#ask(call, socket)
    } catch (error) {
      this.#abandon(call.sessionId)
      throw error
    }
  }

  /** A worker that was only slow may hold the wire by now, or will; nobody else would ever close it. */
  #abandon(sessionId: string): void {
    this.#sessions.delete(sessionId)
    const outcome = outcomeOf('media_failed', 'The connection took too long to be set up.')
    this.#ask({ type: 'close', sessionId, outcome, deadlineMs: 0 }).catch(() => {})
  }

  #ask(call: WorkerCall, socket?: Socket, limitMs = CALL_LIMIT_MS): Promise<WorkerResult | undefined> {
    const id = this.#nextId
    this.#nextId += 1
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#calls.delete(id)
        reject(new MediaError('media_unavailable', 'The media worker took too long to answer.'))
      }, limitMs)
      const opens = call.type.startsWith('open-') && socket !== undefined ? call.sessionId : undefined
      this.#calls.set(id, { resolve, reject, timer, opens })
      this.#send({ type: 'call', id, call }, socket)
    })
  }

  #send(message: ToWorker, socket?: Socket): void {
    if (this.#child.connected) this.#child.send(message, socket, { keepOpen: false }, () => {})
    else if (message.type === 'call') this.#take(message.id)?.reject(workerEnded())
  }

  #onMessage(message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        this.#ready()
        break
      case 'held': {
        const call = this.#calls.get(message.id)
        if (call !== undefined) call.opens = undefined
        // The acknowledgement of the socket came before this, and with it Node has closed our copy.
        this.#send({ type: 'go', id: message.id, wanted: call !== undefined })
        break
      }
      case 'done':
        this.#take(message.id)?.resolve(message.result)
        break
      case 'failed':
        this.#take(message.id)?.reject(new MediaError(message.fault.code, message.fault.message))
        break
      case 'log':
        this.#log(message.message, message.detail)
        break
      case 'event': {
        const events = this.#sessions.get(message.sessionId)
        if (events === undefined) return
        if (message.event.type === 'over') events.over(message.event.reason)
        else if (message.event.type === 'report') events.report(message.event.report)
        else events[message.event.type]()
      }
    }
  }

  #take(id: number): PendingCall | undefined {
    const pending = this.#calls.get(id)
    this.#calls.delete(id)
    clearTimeout(pending?.timer)
    return pending
  }

  #onExit(how: string): void {
    for (const id of [...this.#calls.keys()]) {
      this.#take(id)?.reject(workerEnded())
    }
    const sessions = [...this.#sessions.values()]
    this.#sessions.clear()
    for (const events of sessions) {
      events.over({ cause: 'media_failed', message: `The process that held the connection ended (${how}).` })
    }
  }
}

/** Sound cannot wait, so its processes go before others, where the system lets us say so. */
function prefer(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_ABOVE_NORMAL)
  } catch {
    // Ordinary users may not; then all are equal.
  }
}

function packed({ url, headers, head }: UpgradeRequest): PackedUpgrade {
  return { url, headers, head: Buffer.from(head).toString('base64') }
}

function endedEarly(): MediaError {
  return new MediaError('media_unavailable', 'The session ended before its connection was set up.')
}

function workerEnded(): MediaError {
  return new MediaError('media_unavailable', 'The media worker has ended.')
}
