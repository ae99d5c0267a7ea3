import { join } from 'node:path'
import type { AgentDetails, SecretSetListResponse } from '@botcli/protocol/cloud'
import { RemoteError } from '../remote/remote-error.ts'
import type { DeployPlan } from './plan.ts'

type SecretSet = SecretSetListResponse['sets'][number]

/** An agent stays where it is; so it is told before anything is built for another place. */
export function checkRegion(agent: AgentDetails | undefined, { region, name }: DeployPlan): void {
  if (agent === undefined || region === undefined || region === agent.region) return
  throw RemoteError.local(
    'REGION_MISMATCH',
    `${name} is in the region ${agent.region} and cannot move to ${region}. Deploy it under another name, or remove it first: botcli agent delete ${name}`,
  )
}

/** The sets that the agent needs have to be there, so that nothing is built in vain. */
export function checkSecrets(sets: readonly SecretSet[], plan: DeployPlan, region: string): void {
  const { secretSet, settings, shownHome } = plan
  if (secretSet) {
    const make = `botcli secrets set ${secretSet} --file ${join(shownHome, '.env')}`
    checkSet(sets, { name: secretSet, type: 'secret', region }, make)
  }
  if (settings.imageCredentials !== undefined) {
    const name = settings.imageCredentials
    checkSet(
      sets,
      { name, type: 'imagePullSecret', region },
      `botcli secrets image-pull-secret ${name} REGISTRY`,
    )
  }
}

function checkSet(
  sets: readonly SecretSet[],
  { name, type, region }: Pick<SecretSet, 'name' | 'type' | 'region'>,
  make: string,
): void {
  const found = sets.find((set) => set.name === name)
  if (found === undefined) {
    const place = sets.every((set) => set.region === region) ? '' : ` --region ${region}`
    throw RemoteError.local(
      'SECRET_SET_MISSING',
      `There is no secret set ${name}, so nothing was built. Make it, then deploy again: ${make}${place}`,
    )
  }
  if (found.type !== type) {
    const what =
      type === 'secret'
        ? 'opens a registry; it has no variables for bots'
        : 'has variables for bots; it opens no registry'
    throw RemoteError.local(
      'SECRET_SET_MISSING',
      `The secret set ${name} ${what}. Name another one in its place.`,
    )
  }
  if (found.region !== region) {
    throw RemoteError.local(
      'REGION_MISMATCH',
      `The secret set ${name} is in the region ${found.region}, and the agent in ${region}. Use one of the same region: ${make.replace(name, 'NAME')} --region ${region}`,
    )
  }
}
