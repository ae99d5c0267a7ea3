import type { InstanceInfo, SessionView, StartRequest } from '@botcli/protocol'

/** What an instance answered to a start: its status, and its body as JSON. */
export interface InstanceAnswer {
  readonly status: number
  readonly body: unknown
}

/** Talks to an instance over its Unix socket. Everything fails with an Error, and has a limit of time. */
export interface InstanceClient {
  info(socketPath: string): Promise<InstanceInfo>
  /** `POST /start`, with the id that the session is to have. It fails after so long at the latest. */
  start(
    socketPath: string,
    sessionId: string,
    request: StartRequest,
    headers: Readonly<Record<string, string>>,
    limitMs: number,
  ): Promise<InstanceAnswer>
  /** `GET /sessions/{id}`, also of one that is over; nothing if the instance does not know it. */
  session(socketPath: string, sessionId: string): Promise<SessionView | undefined>
  /** `DELETE /sessions/{id}`; gives the session as it ended, or nothing if the instance does not know it. */
  stop(socketPath: string, sessionId: string): Promise<SessionView | undefined>
  /** Watches an instance: `onBeat` is called whenever its journal has grown. Resolves when the stream ends, for whatever reason. */
  watch(socketPath: string, onBeat: () => void, signal: AbortSignal): Promise<void>
}
