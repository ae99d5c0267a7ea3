import { nearest } from '@botcli/scaffold/nearest'
import type { CloudClient } from './cloud-client.ts'
import { RemoteError } from './remote-error.ts'

/** Does something with an agent. Where there is none of that name, the failure names the one that was probably meant. */
export async function orNearest<T>(client: CloudClient, agent: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RemoteError) || error.status !== 404) throw error
    const near = await nearestTo(client, agent)
    if (near === undefined) throw error
    const message = `${error.message} Did you mean ${near}?`
    throw new RemoteError(error.code, message, { status: error.status, cause: error })
  }
}

/** Nothing where it is there, so that something else is missing, and where the cloud does not say who is there. */
async function nearestTo(client: CloudClient, agent: string): Promise<string | undefined> {
  const { services } = await client.agents.list().catch(() => ({ services: [] }))
  const names = services.map(({ name }) => name)
  return names.includes(agent) ? undefined : nearest(agent, names)
}
