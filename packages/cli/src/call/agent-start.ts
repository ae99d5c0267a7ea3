import type { CarrierId } from '@botcli/protocol'
import type { Io } from '../io.ts'
import { CloudClient } from '../remote/cloud-client.ts'
import { readCredentials } from '../remote/credentials.ts'
import { withPublicKey } from '../remote/public-key.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { realWait, type Wait } from '../remote/retry.ts'

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
  /** Why the session ended, in full: what closes a call has room for 123 bytes. Nothing where the cloud does not say. */
  whyEnded(): Promise<string | undefined>
}

/** How often, and after how long each time, it is asked why a session ended: the cloud hears of it a moment after the caller. */
const ASKS = { times: 8, everyMs: 250 } as const

/** Asks the cloud that the user is signed in to for a session with an agent. Throws a RemoteError. */
export async function startAgentCall(
  call: AgentCall,
  { env, stderr }: Io,
  wait: Wait = realWait,
): Promise<AgentStarted> {
  const { agent, key, transport, body, signal } = call
  const client = new CloudClient({ ...(await readCredentials(env)), signal })
  const tell = (text: string) => void stderr.write(`${text}\n`)
  const { sessionId, wsUrl } = await withPublicKey(
    { client, env, agent, given: key, signal, tell },
    (asker) => asker.start(agent, { transport, ...(body && { body }) }),
  )
  const whyEnded = () => reasonOf(client, { agent, sessionId, signal, wait }).catch(() => undefined)
  if (wsUrl !== undefined) return { sessionId, wsUrl, whyEnded }
  throw RemoteError.local('ANSWER_INVALID', `${client.url} gave no address to call.`)
}

async function reasonOf(
  client: CloudClient,
  asked: Pick<AgentCall, 'agent' | 'signal'> & { readonly sessionId: string; readonly wait: Wait },
): Promise<string | undefined> {
  const { agent, sessionId, signal, wait } = asked
  for (let left = ASKS.times; left > 0; left -= 1) {
    const { outcome } = await client.agents.session(agent, sessionId)
    if (outcome) return outcome.message
    await wait(ASKS.everyMs, signal)
  }
  return undefined
}
