import { availableParallelism } from 'node:os'
import { MediaError, type MediaHost, type MediaHostOptions, MediaWorker } from '@botcli/media'
import type { PortRange } from '../config.ts'
import type { Logger } from '../log/logger.ts'
import { takeUdpPort, type UdpPort } from './udp-port.ts'

/** What one worker takes; measured to keep its sound steady. */
const SESSIONS_PER_WORKER = 50
/** Below this load a second worker would only cost memory. */
const COMFORTABLE_LOAD = 8
/** A worker that dies at once is replaced, but not in a tight loop. */
const REPLACE_DELAY_MS = 1000

/** What a pool is made of. */
export interface MediaPoolOptions {
  readonly host: MediaHostOptions
  /** One worker a port when ports are prescribed, because two processes cannot share one. */
  readonly ports?: PortRange
  readonly maxSessions: number
  readonly logger: Logger
  readonly start?: typeof MediaWorker.start
}

/** Where sessions find a place for their wire. */
export interface MediaHosts {
  /** The host that has most room. */
  pick(): Promise<MediaHost>
  close(): Promise<void>
}

/** Media workers: one to begin with, about one a core under load, and a new one for each that dies. */
export class MediaPool implements MediaHosts {
  readonly #options: MediaPoolOptions
  readonly #maxWorkers: number
  readonly #workers = new Map<MediaWorker, UdpPort | undefined>()
  #starting: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  private constructor(options: MediaPoolOptions) {
    this.#options = options
    const { ports, maxSessions } = options
    const wanted = Math.max(availableParallelism(), Math.ceil(maxSessions / SESSIONS_PER_WORKER))
    this.#maxWorkers = ports === undefined ? wanted : Math.min(wanted, ports.last - ports.first + 1)
  }

  /** Starts the first worker. */
  static async start(options: MediaPoolOptions): Promise<MediaPool> {
    const pool = new MediaPool(options)
    await pool.#grow()
    return pool
  }

  /** The processes that hold wires now. */
  get pids(): readonly number[] {
    return [...this.#workers.keys()].flatMap((worker) => worker.pid ?? [])
  }

  async pick(): Promise<MediaHost> {
    const best = this.#leastBusy()
    if (best !== undefined && best.load < COMFORTABLE_LOAD) return best
    if (this.#workers.size < this.#maxWorkers) {
      const growing = this.#grow()
      if (best === undefined || best.load >= SESSIONS_PER_WORKER) await growing
      else growing.catch((error: unknown) => this.#complain(error))
    }
    const picked = this.#leastBusy()
    if (picked === undefined) throw new MediaError('media_unavailable', 'No media worker is running.')
    return picked
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#starting?.catch(() => {})
    const workers = [...this.#workers.keys()]
    for (const worker of workers) worker.stop()
    await Promise.all(workers.map((worker) => worker.exited))
  }

  #leastBusy(): MediaWorker | undefined {
    return [...this.#workers.keys()].sort((a, b) => a.load - b.load)[0]
  }

  /** One at a time, so that a rush of sessions starts one worker and not many. */
  #grow(): Promise<void> {
    this.#starting ??= this.#startWorker().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  async #startWorker(): Promise<void> {
    const { host, ports, logger, start = MediaWorker.start } = this.#options
    const taken = new Set([...this.#workers.values()].map((port) => port?.number))
    const port = ports && (await takeUdpPort(ports, taken))
    const options = port === undefined ? host : { ...host, ice: { ...host.ice, port: port.number } }
    let worker: MediaWorker
    try {
      worker = await start(options, (message, detail) => logger.debug(message, { ...detail }))
    } catch (error) {
      port?.free()
      throw error
    }
    this.#workers.set(worker, port)
    worker.exited.then(() => this.#onExit(worker))
    if (this.#closed) worker.stop()
  }

  #onExit(worker: MediaWorker): void {
    this.#workers.get(worker)?.free()
    this.#workers.delete(worker)
    if (this.#closed) return
    this.#options.logger.error('a media worker ended unexpectedly; it is being replaced', { pid: worker.pid })
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      if (this.#workers.size === 0) this.#grow().catch((error: unknown) => this.#complain(error))
    }, REPLACE_DELAY_MS)
  }

  #complain(error: unknown): void {
    this.#options.logger.error('a media worker could not be started', { error })
  }
}
