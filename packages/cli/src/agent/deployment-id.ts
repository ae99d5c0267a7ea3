import { DEPLOYMENT_LIST_LIMIT, type DeploymentRecord } from '@botcli/protocol/cloud'
import { type IdKind, pickByBeginning } from '../remote/beginning.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { UsageError } from '../usage-error.ts'

/** Further back nobody looks by number. */
const MOST_PAGES = 20

/** A deployment as people name it: its number, with or without `#`, or the beginning of its id. */
export function readDeployment(text: string, agent: string): string {
  if (/^#?\d{1,9}$/.test(text) || /^[0-9a-f][0-9a-f-]{3,35}$/i.test(text)) return text.toLowerCase()
  throw new UsageError([
    `A deployment is named by its number or the beginning of its id, which "botcli agent deployments ${agent}" shows, not ${JSON.stringify(text)}.`,
  ])
}

/** The deployment that is meant. A number wins over an id that happens to begin with the same digits. */
export async function findDeployment(
  client: CloudClient,
  agent: string,
  text: string,
): Promise<DeploymentRecord> {
  const kind: IdKind = { one: 'deployment', listedBy: `botcli agent deployments ${agent}` }
  const number = /^#?\d+$/.test(text) ? Number(text.replace('#', '')) : undefined
  const all: DeploymentRecord[] = []
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { deployments, total } = await client.agents.deployments(agent, {
      limit: DEPLOYMENT_LIST_LIMIT.max,
      offset: all.length,
    })
    const found = deployments.find((one) => one.number === number || one.id === text)
    if (found !== undefined) return found
    all.push(...deployments)
    if (deployments.length === 0 || all.length >= total) break
  }
  const ids = all.map(({ id }) => id)
  if (number !== undefined && !ids.some((id) => id.startsWith(text))) {
    throw RemoteError.local('NOT_FOUND', `${agent} has no deployment ${number}. See: ${kind.listedBy}`)
  }
  const id = pickByBeginning(ids, text, kind)
  const found = all.find((one) => one.id === id)
  if (found === undefined) throw RemoteError.local('NOT_FOUND', `${agent} has no deployment ${text}.`)
  return found
}
