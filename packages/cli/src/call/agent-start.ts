import type { CarrierId } from '@botcli/protocol'
import type { Io } from '../io.ts'
import { CloudClient } from '../remote/cloud-client.ts'
import { readCredentials } from '../remote/credentials.ts'
import { withPublicKey } from '../remote/public-key.ts'
import { RemoteError } from '../remote/remote-error.ts'

/** The call that is asked for. */
export interface AgentCall {
  readonly agent: string
  readonly key: string | undefined
  readonly transport: CarrierId
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly signal: AbortSignal
}

/** A session that waits for its call. */
export interface AgentStarted {
  readonly sessionId: string
  /** Where to call, exactly as the cloud gave it: it holds what opens the session. */
  readonly wsUrl: string
}

/** Asks the cloud that the user is signed in to for a session with an agent. Throws a RemoteError. */
export async function startAgentCall(call: AgentCall, { env, stderr }: Io): Promise<AgentStarted> {
  const { agent, key, transport, body, signal } = call
  const client = new CloudClient({ ...(await readCredentials(env)), signal })
  const tell = (text: string) => void stderr.write(`${text}\n`)
  const { sessionId, wsUrl } = await withPublicKey({ client, env, given: key, signal, tell }, (asker) =>
    asker.start(agent, { transport, ...(body && { body }) }),
  )
  if (wsUrl !== undefined) return { sessionId, wsUrl }
  throw RemoteError.local('ANSWER_INVALID', `${client.url} gave no address to call.`)
}
