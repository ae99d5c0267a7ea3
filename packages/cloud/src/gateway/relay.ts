import { type ChildProcess, fork } from 'node:child_process'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { CloudError } from '../errors.ts'
import type { CloudLog } from '../log.ts'
import type { FromRelay, RelayedCall, ToRelay } from './relay-messages.ts'

/** Connections of one relay process. */
export const MAX_RELAYED = 10_000
const READY_LIMIT_MS = 15_000
const HAND_OVER_LIMIT_MS = 20_000

/** A caller that is on its way to the relay process. */
interface Passage {
  /** Of no effect once it is handed over. */
  readonly socket: Socket
  readonly refund: () => void
  readonly timer: NodeJS.Timeout
}

/** What a relay works with. */
export interface RelayOptions {
  readonly log: CloudLog
  readonly maxConnections?: number | undefined
}

/**
 * Starts the relay process, and hands callers over to it. The process is started when the first caller comes, and again after it was lost.
 * It does not end with this one: what it relays goes on.
 */
export class Relay {
  readonly #log: CloudLog
  readonly #max: number
  readonly #passages = new Map<number, Passage>()
  /** Every caller that the process has or is about to have. */
  readonly #callers = new Set<number>()
  #process: Promise<ChildProcess> | undefined
  #nextId = 1
  #isClosed = false

  constructor({ log, maxConnections = MAX_RELAYED }: RelayOptions) {
    this.#log = log
    this.#max = maxConnections
  }

  /** Callers that are relayed now, or are about to be. */
  get connections(): number {
    return this.#callers.size
  }

  /** Throws if no more callers can be taken. */
  checkRoom(): void {
    if (this.#isClosed)
      throw new CloudError('UNAVAILABLE', 'The cloud is stopping.', { retryAfterSeconds: 5 })
    if (this.#callers.size < this.#max) return
    const message = `${this.#max} WebSockets are relayed already.`
    throw new CloudError('RATE_LIMITED', message, { retryAfterSeconds: 10 })
  }

  /**
   * Hands a caller over; its socket is not ours any more when this resolves. Rejects while it still is. `refund` is called if nothing of
   * the caller has reached the instance, before the caller is told.
   */
  async take(
    socket: Socket,
    call: Omit<RelayedCall, 'early'>,
    head: Buffer,
    refund: () => void,
  ): Promise<void> {
    const id = this.#nextId
    this.#nextId += 1
    this.#callers.add(id)
    let child: ChildProcess
    try {
      child = await this.#started()
      if (socket.destroyed) throw new CloudError('INVALID_REQUEST', 'The caller left.')
    } catch (error) {
      this.#callers.delete(id)
      throw error
    }
    const timer = setTimeout(() => this.#giveUp(id), HAND_OVER_LIMIT_MS)
    this.#passages.set(id, { socket, refund, timer })
    const rest = socket.read() as Buffer | null
    const early = Buffer.concat(rest === null ? [head] : [head, rest]).toString('base64')
    const message: ToRelay = { type: 'open', id, call: { ...call, early } }
    // If it cannot be sent, the process has ended, and its exit tells the rest.
    child.send(message, socket, { keepOpen: false }, () => {})
  }

  /** Lets go of the process. It ends with its last connection. */
  async close(): Promise<void> {
    this.#isClosed = true
    const child = await this.#process?.catch(() => undefined)
    if (child?.connected) child.disconnect()
    for (const { timer } of this.#passages.values()) clearTimeout(timer)
    this.#passages.clear()
    this.#callers.clear()
  }

  #started(): Promise<ChildProcess> {
    this.#process ??= this.#start().catch((error: unknown) => {
      this.#process = undefined
      throw error
    })
    return this.#process
  }

  #start(): Promise<ChildProcess> {
    return new Promise((resolve, reject) => {
      const child = fork(createRequire(import.meta.url).resolve('@botcli/cloud/relay'), {
        execArgv: [],
        // It outlives this process, so it must not depend on where that was, wrote to or was told.
        ...{ cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] },
        detached: true,
      })
      child.unref()
      let isReady = false
      let hasFailed = false
      const fail = (why: string): void => {
        hasFailed = true
        clearTimeout(timer)
        reject(new CloudError('UNAVAILABLE', `The process that relays WebSockets did not start: ${why}.`))
      }
      const timer = setTimeout(() => {
        child.kill('SIGKILL')
        fail('it took too long')
      }, READY_LIMIT_MS)
      child.on('error', (error) => {
        this.#log.warn('the relay process could not be reached', { error })
        fail(error.message)
      })
      child.on('message', (message: FromRelay) => {
        if (message.type !== 'ready') {
          this.#onMessage(child, message)
          return
        }
        // One that is told to be late is ended, and another one may have taken its place.
        if (hasFailed) return
        isReady = true
        clearTimeout(timer)
        resolve(child)
      })
      child.once('exit', (code, signal) => {
        const how = signal ?? `code ${code}`
        // One that was never ready has no callers, and another one may have taken its place.
        if (isReady) this.#onExit(how)
        else fail(`it ended with ${how}`)
      })
    })
  }

  #onMessage(child: ChildProcess, message: Exclude<FromRelay, { type: 'ready' }>): void {
    const { id } = message
    const passage = this.#passages.get(id)
    this.#passages.delete(id)
    clearTimeout(passage?.timer)
    if (message.type === 'over') {
      this.#callers.delete(id)
      // The caller left while its instance was being reached.
      passage?.refund()
    } else if (passage === undefined) send(child, { type: 'drop', id })
    // The acknowledgement of the socket came before this, and with it Node has closed our copy.
    else if (message.type === 'reached') send(child, { type: 'go', id })
    else {
      this.#log.warn('a caller could not be brought to its instance', { why: message.why })
      passage.refund()
      send(child, { type: 'refuse', id })
    }
  }

  #giveUp(id: number): void {
    const passage = this.#passages.get(id)
    this.#passages.delete(id)
    this.#callers.delete(id)
    this.#log.warn('a caller was not handed over to the relay process in time')
    passage?.socket.destroy()
    passage?.refund()
  }

  #onExit(how: string): void {
    this.#process = undefined
    if (this.#callers.size > 0) {
      this.#log.error('the relay process ended, and its calls with it', { how, calls: this.#callers.size })
    }
    this.#callers.clear()
    const passages = [...this.#passages.values()]
    this.#passages.clear()
    for (const { timer, socket, refund } of passages) {
      clearTimeout(timer)
      socket.destroy()
      refund()
    }
  }
}

function send(child: ChildProcess, message: ToRelay): void {
  if (child.connected) child.send(message, () => {})
}
