import { TRANSPORT_IDS, type TransportId } from '@botcli/protocol'
import { Backstage } from './backstage.ts'
import { CarrierWebhook } from './carriers/carrier-webhook.ts'
import type { RunnerConfig, WhatsappConfig } from './config.ts'
import { Dialin } from './dialin/dialin.ts'
import { createApp } from './http/app.ts'
import type { ServedInstance } from './http/instance-routes.ts'
import { OriginPolicy } from './http/origin-policy.ts'
import { Page } from './http/page.ts'
import { HttpServer } from './http/server.ts'
import { WebsocketDoor } from './http/websocket-door.ts'
import type { Instance } from './instance/instance.ts'
import { InstanceWatch } from './instance/instance-watch.ts'
import type { Logger } from './log/logger.ts'
import { Rooms } from './rooms/rooms.ts'
import type { Connector } from './sessions/connector.ts'
import { openWhileWanted } from './wanted.ts'
import { WhatsappApi } from './whatsapp/whatsapp-api.ts'
import { WhatsappCalls } from './whatsapp/whatsapp-calls.ts'
import { WhatsappWebhook } from './whatsapp/whatsapp-webhook.ts'

/** A runner that serves. */
export interface RunningRunner {
  /** What to open in a browser, without a path. */
  readonly url: string
  readonly transports: readonly TransportId[]
  /** How many sessions are not over. */
  readonly sessions: number
  /** Resolves when an instance is needed by nobody any more. Other runners are always needed. */
  readonly orphaned: Promise<void>
  /** Refuses new sessions, ends the running ones and frees everything, within about the deadline. */
  close(options: { readonly deadlineMs: number }): Promise<void>
}

/** What goes with a start. */
export interface StartOptions {
  readonly logger: Logger
  /** Aborted when the runner is not wanted any more, however far it has come. */
  readonly signal?: AbortSignal
  /** Makes it an instance of the cloud. */
  readonly instance?: Instance
}

/** Starts the server: loads the bot, starts the pools, listens. Rejects with a `RunnerError`. */
export async function startRunner(config: RunnerConfig, options: StartOptions): Promise<RunningRunner> {
  const runner = new Runner(config, options)
  await openWhileWanted(runner, options.signal)
  return runner
}

class Runner implements RunningRunner {
  readonly transports: readonly TransportId[]
  readonly #config: RunnerConfig
  readonly #logger: Logger
  readonly #instance: Instance | undefined
  readonly #backstage: Backstage
  readonly #carrierWebhook: CarrierWebhook
  #whatsappCalls: WhatsappCalls | undefined
  #server: HttpServer | undefined
  #watch: InstanceWatch | undefined
  #closing: Promise<void> | undefined

  constructor(config: RunnerConfig, { logger, instance }: StartOptions) {
    this.#config = config
    this.#logger = logger
    this.#instance = instance
    this.transports = config.transport === undefined ? TRANSPORT_IDS : [config.transport]
    this.#carrierWebhook = new CarrierWebhook(config.telephony.webhookSecrets ?? {})
    this.#backstage = new Backstage(config, logger, instance)
  }

  get url(): string {
    return `http://${this.#server?.address ?? ''}`
  }

  get sessions(): number {
    return this.#backstage.table.size
  }

  get orphaned(): Promise<void> {
    return this.#watch?.orphaned ?? new Promise(() => {})
  }

  async open(): Promise<void> {
    const connector = await this.#backstage.open()
    const { pageDir } = this.#config
    const page = pageDir === undefined ? undefined : await this.#loadPage(pageDir)
    const server = this.#createServer(connector, page)
    this.#backstage.expectOpen()
    await server.listen()
    this.#server = server
    if (this.#closing !== undefined) await server.close()
  }

  close({ deadlineMs }: { readonly deadlineMs: number }): Promise<void> {
    this.#closing ??= this.#close(deadlineMs)
    return this.#closing
  }

  #createServer(connector: Connector, page: Page | undefined): HttpServer {
    const { host, port, wsAuth, evals, room } = this.#config
    const { guests, table, tokens } = this.#backstage
    const instance = this.#instance && this.#serveInstance(this.#instance)
    const rooms = new Rooms({
      config: room,
      logger: this.#logger,
      signal: this.#backstage.ending,
      inCloud: instance !== undefined,
    })
    const shared = {
      transports: this.transports,
      // Whoever comes to an instance has shown a key or a token to the cloud.
      origins: new OriginPolicy(this.#config.allowedOrigins, { needed: instance === undefined }),
      table,
      tokens,
      connector,
      logger: this.#logger,
    }
    const app = createApp({
      ...shared,
      config: this.#config,
      guests,
      rooms,
      page,
      carrierWebhook: this.#carrierWebhook,
      dialin: this.#config.dialin ? new Dialin({ rooms, room, logger: this.#logger }) : undefined,
      whatsapp: this.#config.whatsapp && this.#whatsapp(this.#config.whatsapp, connector),
      address: () => this.#server?.address ?? '',
      instance,
    })
    const socket = this.#instance?.settings.socket
    return new HttpServer({ host, port, socket, app, door: new WebsocketDoor({ ...shared, wsAuth, evals }) })
  }

  #serveInstance({ settings, journal }: Instance): ServedInstance {
    const { table } = this.#backstage
    const watch = new InstanceWatch({
      orphanMs: settings.orphanSeconds * 1000,
      sessions: () => table.size,
    })
    journal.onGrown(() => watch.tell())
    this.#watch = watch
    return { id: settings.instanceId, watch }
  }

  #whatsapp(config: WhatsappConfig, connector: Connector) {
    const { table } = this.#backstage
    const logger = this.#logger
    const calls = new WhatsappCalls({
      api: new WhatsappApi({ config }),
      logger,
      answer: async (sdp, body, onEnded) => {
        const session = table.create('webrtc', { ...body })
        try {
          const answer = await connector.offer(session.id, { sdp, type: 'offer' })
          session.sayFarewell(async () => onEnded())
          return { sdp: answer.sdp, end: (cause, message) => session.end(cause, message) }
        } catch (error) {
          table.discard(session, error instanceof Error ? error.message : String(error))
          throw error
        }
      },
    })
    this.#whatsappCalls = calls
    return { webhook: new WhatsappWebhook(config, logger), calls }
  }

  async #loadPage(folder: string): Promise<Page | undefined> {
    try {
      return await Page.load(folder)
    } catch {
      this.#logger.warn('the browser page was not built, so /client is not served; run: npm run build')
      return undefined
    }
  }

  async #close(deadlineMs: number): Promise<void> {
    this.#server?.stopListening()
    await this.#backstage.endSessions(deadlineMs)
    await this.#whatsappCalls?.close()
    this.#watch?.close()
    await this.#server?.close()
    await this.#backstage.close()
  }
}
