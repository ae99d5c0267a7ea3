import type { SessionView } from '@botcli/protocol'
import { Backstage } from './backstage.ts'
import type { RunnerConfig } from './config.ts'
import { RunnerError } from './errors.ts'
import type { Logger } from './log/logger.ts'
import { RequestError } from './request-error.ts'
import { type OpenRoom, Rooms } from './rooms/rooms.ts'
import type { StartOptions } from './runner.ts'
import { openWhileWanted } from './wanted.ts'

/** A bot that was sent to a room, without a server. */
export interface DirectSession {
  /** Where a browser can join. It holds a token, so it is not for logs. */
  readonly joinUrl: string
  /** How many sessions are not over: one or none. */
  readonly sessions: number
  /** Resolves when the bot's session is over. */
  readonly ended: Promise<SessionView>
  /** Ends the session and frees everything, within about the deadline. */
  close(options: { readonly deadlineMs: number }): Promise<void>
}

/** Loads the bot, opens a room and sends the bot there. Rejects with a `RunnerError` or a `RequestError`. */
export async function startDirect(config: RunnerConfig, options: StartOptions): Promise<DirectSession> {
  const direct = new Direct(config, options.logger)
  await openWhileWanted(direct, options.signal)
  return direct
}

class Direct implements DirectSession {
  readonly ended: Promise<SessionView>
  readonly #rooms: Rooms
  readonly #backstage: Backstage
  #joinUrl = ''
  #end: (view: SessionView) => void = () => {}
  #closing: Promise<void> | undefined

  constructor(config: RunnerConfig, logger: Logger) {
    this.#backstage = new Backstage(config, logger)
    this.#rooms = new Rooms({ config: config.room, logger, signal: this.#backstage.ending })
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  get joinUrl(): string {
    return this.#joinUrl
  }

  get sessions(): number {
    return this.#backstage.table.size
  }

  async open(): Promise<void> {
    const connector = await this.#backstage.open()
    const room = await this.#openRoom()
    this.#backstage.expectOpen()
    const session = this.#backstage.table.create('room')
    this.#joinUrl = room.joinUrl
    session.over.then(() => this.#end(session.view()))
    await connector.room(session, { roomUrl: room.url, token: room.botToken })
  }

  close({ deadlineMs }: { readonly deadlineMs: number }): Promise<void> {
    this.#closing ??= this.#close(deadlineMs)
    return this.#closing
  }

  /** Here nobody made a request, so what went wrong is a failure to start. */
  async #openRoom(): Promise<OpenRoom> {
    try {
      return await this.#rooms.open()
    } catch (cause) {
      if (!(cause instanceof RequestError)) throw cause
      throw new RunnerError('room_unavailable', cause.message, undefined, { cause })
    }
  }

  async #close(deadlineMs: number): Promise<void> {
    await this.#backstage.endSessions(deadlineMs)
    await this.#backstage.close()
  }
}
