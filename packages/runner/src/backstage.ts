import { lookup } from 'node:dns/promises'
import { BotSource, type BotState } from './bot-source/bot-source.ts'
import { isPython } from './bot-source/discover.ts'
import { PythonSource } from './bot-source/python-source.ts'
import { HangUp } from './carriers/hang-up.ts'
import type { RunnerConfig } from './config.ts'
import { RunnerError } from './errors.ts'
import type { Guest, GuestCode } from './guests/guest.ts'
import { javascriptCommand } from './guests/guest-command.ts'
import { GuestPool } from './guests/guest-pool.ts'
import { KernelKills } from './guests/kernel-kills.ts'
import { ProcessGuest } from './guests/process-guest.ts'
import type { Instance } from './instance/instance.ts'
import type { Logger } from './log/logger.ts'
import { type MediaHosts, MediaPool } from './media/media-pool.ts'
import { takeUdpPort } from './media/udp-port.ts'
import { forwardedAddress, socketAddress } from './sessions/caller-address.ts'
import { Connector } from './sessions/connector.ts'
import { SessionTable } from './sessions/session-table.ts'
import { SessionTokens } from './sessions/session-tokens.ts'

/** What somebody can do in the cloud, where `--max-memory` is not theirs to say. */
const MORE_MEMORY = 'A larger agent_profile gives it more.'

/** Everything behind the door: the bot's code, the guests that run it, the media hosts, and the sessions. */
export class Backstage {
  readonly guests: GuestPool
  readonly table: SessionTable
  readonly tokens = new SessionTokens()
  readonly #config: RunnerConfig
  readonly #logger: Logger
  readonly #instance: Instance | undefined
  readonly #hangUp: HangUp
  readonly #kills = KernelKills.find()
  #source: BotSource | PythonSource | undefined
  #media: MediaHosts | undefined
  readonly #ending = new AbortController()
  #returnProcess: () => void = () => {}

  constructor(config: RunnerConfig, logger: Logger, instance?: Instance) {
    this.#config = config
    this.#logger = logger
    this.#instance = instance
    this.#hangUp = new HangUp({ telephony: config.telephony, logger })
    this.guests = new GuestPool({
      warm: config.warm,
      create: (code, unwanted) => this.#createGuest(code, unwanted),
      logger,
    })
    this.table = new SessionTable({
      maxSessions: config.maxSessions,
      maxDurationMs: config.maxSessionDurationMs,
      logger,
      onEnded: (sessionId) => this.tokens.forget(sessionId),
      onChange: (session) => instance?.journal.session(session),
      ...(instance && { memoryHint: MORE_MEMORY }),
    })
  }

  /** Aborted when everything is to end. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** Loads the bot and starts the pools. Gives what brings callers and bots together. */
  async open(): Promise<Connector> {
    const source = await this.#openSource()
    this.#source = source
    if (this.ending.aborted) await source.close()
    this.expectOpen()
    const state = this.#source.current
    if (state.kind === 'broken') {
      throw new RunnerError('bot_load_failed', 'The bot could not be compiled.', state.message)
    }
    const [media] = await Promise.all([this.#openMedia(), this.guests.use(state.code)])
    return new Connector({
      table: this.table,
      media,
      guests: this.guests,
      hangUp: this.#hangUp,
      callerAddress: this.#instance === undefined ? socketAddress : forwardedAddress,
    })
  }

  /** Stops a start in the middle when everything was closed meanwhile. */
  expectOpen(): void {
    if (this.ending.aborted) throw new RunnerError('start_failed', 'The runner was closed.')
  }

  /** Lets nobody in any more, and ends every session. */
  async endSessions(deadlineMs: number): Promise<void> {
    this.#ending.abort()
    await this.table.close('shutdown', 'The runner is shutting down.', deadlineMs)
  }

  /** Frees everything. */
  async close(): Promise<void> {
    this.#ending.abort()
    await Promise.all([this.guests.close(), this.#media?.close(), this.#source?.close()])
    this.#kills.close()
    this.#returnProcess()
  }

  async #openSource(): Promise<BotSource | PythonSource> {
    const { botPath: path, botFolder: folder, isolation, python, env, maxMemoryBytes } = this.#config
    const options = {
      logger: this.#logger,
      fixed: this.#instance !== undefined,
      onChange: (state: BotState) => this.#onChange(state),
    }
    if (!isPython(path)) return BotSource.open({ path, folder }, options)
    if (isolation === 'inline') {
      throw new RunnerError(
        'bot_not_supported',
        'A Python bot cannot run inside the runner. Leave --isolation inline out.',
      )
    }
    return PythonSource.open(
      { path, folder },
      { ...options, python, env, maxMemoryBytes, kills: this.#kills },
    )
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
      if (this.ending.aborted) await media.close()
      return media
    }
    this.#borrowProcess()
    // Native code is loaded into this process only when it is asked for.
    const { LocalMediaHost } = await import('@botcli/media/local')
    const port = icePorts && (await takeUdpPort(icePorts))
    const local = new LocalMediaHost({
      ice: { ...ice, ...(port && { port: port.number }) },
      maxMemoryBytes: Number.POSITIVE_INFINITY,
    })
    this.#media = { pick: async () => local, close: async () => port?.free() }
    return this.#media
  }

  async #createGuest(code: GuestCode, unwanted: AbortSignal): Promise<Guest> {
    if (code.kind === 'python') return code.program.start(unwanted)
    const { isolation, botFolder: folder, env, maxMemoryBytes } = this.#config
    if (isolation === 'process') {
      const command = javascriptCommand(code, env, maxMemoryBytes)
      return ProcessGuest.start(command, { folder, logger: this.#logger, kills: this.#kills, unwanted })
    }
    const { InlineGuest } = await import('./guests/inline-guest.ts')
    return InlineGuest.start(code, unwanted)
  }

  /** Bots in this process see what they would see in their own: the variables and the folder. */
  #borrowProcess(): void {
    const { env, cwd } = { env: { ...process.env }, cwd: process.cwd() }
    Object.assign(process.env, this.#config.env)
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
      this.guests.suspend(`The bot is broken: ${place}`)
      return
    }
    this.guests.use(state.code).catch((error: unknown) => {
      const text = error instanceof RunnerError ? (error.detail ?? error.message) : String(error)
      this.#logger.error(`the bot could not be loaded, each new session tries again\n${text}`)
    })
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
