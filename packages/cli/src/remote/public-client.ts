import type { TransportId } from '@botcli/protocol'
import { type PublicStartResponse, publicStartResponse } from '@botcli/protocol/cloud'
import { CloudHttp, type HttpOptions } from './http.ts'

/** An instance may have to be started first, and the cloud waits for that. */
const START_LIMIT_MS = 15 * 60_000

/** The session that is asked for. */
export interface WantedSession {
  readonly transport: TransportId
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /** For `room`: the cloud makes the room. */
  readonly createRoom?: true
}

/** The public API of a cloud. Its key is a public one. */
export class PublicClient {
  readonly #http: CloudHttp

  constructor(options: HttpOptions) {
    this.#http = new CloudHttp(options)
  }

  start(agent: string, body: WantedSession): Promise<PublicStartResponse> {
    const path = `/public/${encodeURIComponent(agent)}/start`
    return this.#http.json({ method: 'POST', path, body, limitMs: START_LIMIT_MS }, publicStartResponse)
  }
}
