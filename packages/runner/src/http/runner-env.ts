import type { IncomingMessage } from 'node:http'

/** What a route finds in its context besides the request. */
export interface RunnerEnv {
  Bindings: { incoming: IncomingMessage }
}
