import { SESSION_LIST_LIMIT } from '@botcli/protocol/cloud'
import { type IdKind, isWholeId, pickByBeginning, readBeginning } from '../remote/beginning.ts'
import type { CloudClient } from '../remote/cloud-client.ts'

function kindOf(agent: string): IdKind {
  return { one: 'session', listedBy: `botcli session list ${agent}` }
}

/** The beginning of the id of a session, or all of it. */
export function readSessionId(text: string, agent: string): string {
  return readBeginning(text, kindOf(agent))
}

/** The session that is meant by the beginning of its id, among the newest ones. */
export async function findSessionId(client: CloudClient, agent: string, text: string): Promise<string> {
  if (isWholeId(text)) return text
  const { sessions } = await client.agents.sessions(agent, { limit: SESSION_LIST_LIMIT.max })
  const ids = sessions.map(({ sessionId }) => sessionId)
  return pickByBeginning(ids, text, kindOf(agent))
}
