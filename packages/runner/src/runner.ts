import { lookup } from 'node:dns/promises'
import { TRANSPORT_IDS, type TransportId } from '@botcli/protocol'
import { BotSource, type BotState } from './bot-source/bot-source.ts'
import type { RunnerConfig } from './config.ts'
import { RunnerError } from './errors.ts'
import type { GuestCode } from './guests/guest.ts'
import { GuestPool } from './guests/guest-pool.ts'
import { ProcessGuest } from './guests/process-guest.ts'
import { createApp } from './http/app.ts'
import { OriginPolicy } from './http/origin-policy.ts'
import { Page } from './http/page.ts'
import { HttpServer } from './http/server.ts'
import { WebsocketDoor } from './http/websocket-door.ts'
import type { Logger } from './log/logger.ts'
import { type MediaHosts, MediaPool } from './media/media-pool.ts'
import { freeUdpPort } from './media/udp-port.ts'
import { Connector } from './sessions/connector.ts'
import { SessionTable } from './sessions/session-table.ts'
import { SessionTokens } from './sessions/session-tokens.ts'

/** A runner that serves. */
export interface RunningRunner {
  /** What to open in a browser, without a path. */
  readonly url: string
  readonly transports: readonly TransportId[]
  /** How many sessions are not over. */
  readonly sessions: number
  /** Refuses new sessions, ends the running ones and frees everything, within about the deadline. */
  close(options: { readonly deadlineMs: number }): Promise<void>
}

/** What goes with a start. */
export interface StartOptions {
  readonly logger: Logger
  /** Aborted when the runner is not wanted any more, however far it has come. */
  readonly signal?: AbortSignal
}

/** Starts the server: loads the bot, starts the pools, listens. Rejects with a {@link RunnerError}. */
export async function startRunner(config: RunnerConfig, options: StartOptions): Promise<RunningRunner> {
  const { logger, signal } = options
  const runner = new Runner(config, logger)
  const opening = runner.open()
  let forget = () => {}
  const unwanted = new Promise<never>((_, reject) => {
    const abort = () => reject(new RunnerError('start_failed', 'The runner was stopped while it started.'))
    signal?.addEventListener('abort', abort)
    forget = () => signal?.removeEventListener('abort', abort)
    if (signal?.aborted) abort()
  })
  try {
    await Promise.race([opening, unwanted])
    return runner
  } catch (error) {
    await runner.close({ deadlineMs: 0 })
    // What was still on its way finds the runner closed, and ends by itself.
    await opening.catch(() => {})
    throw error
  } finally {
    forget()
  }
}

class Runner implements RunningRunner {
  readonly transports: readonly TransportId[]
  readonly #config: RunnerConfig
  readonly #logger: Logger
  readonly #guests: GuestPool
  readonly #table: SessionTable
  readonly #tokens = new SessionTokens()
  #source: BotSource | undefined
  #media: MediaHosts | undefined
  #server: HttpServer | undefined
  #closing: Promise<void> | undefined
  #returnProcess: () => void = () => {}

  constructor(config: RunnerConfig, logger: Logger) {
    this.#config = config
    this.#logger = logger
    this.transports = config.transport === undefined ? TRANSPORT_IDS : [config.transport]
    this.#guests = new GuestPool({
      warm: config.warm,
      create: (code, unwanted) => this.#createGuest(code, unwanted),
      logger,
    })
    this.#table = new SessionTable({
      maxSessions: config.maxSessions,
      maxDurationMs: config.maxSessionDurationMs,
      logger,
      onEnded: (sessionId) => this.#tokens.forget(sessionId),
    })
  }

  get url(): string {
    return `http://${this.#server?.address ?? ''}`
  }

  get sessions(): number {
    return this.#table.size
  }

  async open(): Promise<void> {
    const { botPath: path, botFolder: folder } = this.#config
    const source = await BotSource.open(
      { path, folder },
      { logger: this.#logger, onChange: (state) => this.#onChange(state) },
    )
    this.#source = source
    if (this.#closing !== undefined) await source.close()
    this.#expectOpen()
    const state = this.#source.current
    if (state.kind === 'broken') {
      throw new RunnerError('bot_load_failed', 'The bot could not be compiled.', state.message)
    }
    const [media] = await Promise.all([this.#openMedia(), this.#guests.use(state)])
    await this.#listen(media)
  }

  close({ deadlineMs }: { readonly deadlineMs: number }): Promise<void> {
    this.#closing ??= this.#close(deadlineMs)
    return this.#closing
  }

  async #listen(media: MediaHosts): Promise<void> {
    const config = this.#config
    const shared = {
      transports: this.transports,
      origins: new OriginPolicy(config.allowedOrigins),
      table: this.#table,
      tokens: this.#tokens,
      connector: new Connector({ table: this.#table, media, guests: this.#guests }),
      logger: this.#logger,
    }
    const page = config.pageDir === undefined ? undefined : await this.#loadPage(config.pageDir)
    const app = createApp({
      ...shared,
      config,
      guests: this.#guests,
      page,
      address: () => this.#server?.address ?? '',
    })
    const door = new WebsocketDoor({ ...shared, wsAuth: config.wsAuth })
    const server = new HttpServer({ host: config.host, port: config.port, app, door })
    this.#expectOpen()
    await server.listen()
    this.#server = server
    if (this.#closing !== undefined) server.close()
  }

  /** Stops a start in the middle when the runner was closed meanwhile. */
  #expectOpen(): void {
    if (this.#closing !== undefined) throw new RunnerError('start_failed', 'The runner was closed.')
  }

  async #loadPage(folder: string): Promise<Page | undefined> {
    try {
      return await Page.load(folder)
    } catch {
      this.#logger.warn('the browser page was not built, so /client is not served; run: npm run build')
      return undefined
    }
  }

  async #openMedia(): Promise<MediaHosts> {
    const { isolation, icePorts, announcedAddress, esp32, host, maxSessions, maxMemoryBytes } = this.#config
    const ice = {
      ...(announcedAddress !== undefined && { announcedAddress: await addressOf(announcedAddress) }),
      ...(esp32 && { esp32Host: host }),
    }
    const logger = this.#logger
    if (isolation === 'process') {
      const pool = {
        host: { ice, maxMemoryBytes },
        maxSessions,
        logger,
        ...(icePorts && { ports: icePorts }),
      }
      const media = await MediaPool.start(pool)
      this.#media = media
      if (this.#closing !== undefined) await media.close()
      return media
    }
    this.#borrowProcess()
    // Native code is loaded into this process only when it is asked for.
    const { LocalMediaHost } = await import('@botcli/media/local')
    const port = icePorts === undefined ? {} : { port: await freeUdpPort(icePorts) }
    const local = new LocalMediaHost({ ice: { ...ice, ...port }, maxMemoryBytes: Number.POSITIVE_INFINITY })
    this.#media = { pick: async () => local, close: async () => {} }
    return this.#media
  }

  async #createGuest(code: GuestCode, unwanted: AbortSignal) {
    const { isolation, botFolder: folder, env, maxMemoryBytes } = this.#config
    if (isolation === 'process') {
      return ProcessGuest.start(code, { folder, env, maxMemoryBytes, logger: this.#logger, unwanted })
    }
    const { InlineGuest } = await import('./guests/inline-guest.ts')
    return InlineGuest.start(code, unwanted)
  }

  /** Bots in this process see what they would see in their own: the variables and the folder. */
  #borrowProcess(): void {
    const { env, cwd } = { env: { ...process.env }, cwd: process.cwd() }
    Object.assign(process.env, this.#config.env, { ENV: 'local' })
    process.chdir(this.#config.botFolder)
    process.setSourceMapsEnabled(true)
    this.#returnProcess = () => {
      for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
      Object.assign(process.env, env)
      process.chdir(cwd)
    }
  }

  #onChange(state: BotState): void {
    if (state.kind === 'broken') {
      // Clients get the place and the error, but not the lines of source around it, which are in the log.
      const [place] = state.message.split('\n')
      this.#guests.suspend(`The bot is broken: ${place}`)
      return
    }
    this.#guests.use(state).catch((error: unknown) => {
      const text = error instanceof RunnerError ? (error.detail ?? error.message) : String(error)
      this.#logger.error(`the bot could not be loaded, each new session tries again\n${text}`)
    })
  }

  async #close(deadlineMs: number): Promise<void> {
    this.#server?.stopListening()
    await this.#table.close('shutdown', 'The runner is shutting down.', deadlineMs)
    this.#server?.close()
    await Promise.all([this.#guests.close(), this.#media?.close(), this.#source?.close()])
    this.#returnProcess()
  }
}

/** Candidates can only name numbers, so a name is looked up once. */
async function addressOf(host: string): Promise<string> {
  try {
    return (await lookup(host)).address
  } catch {
    throw new RunnerError(
      'address_unavailable',
      `The announced address ${host} is not known to any name server.`,
    )
  }
}
