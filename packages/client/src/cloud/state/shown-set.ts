import type { SecretSetResponse } from '@botcli/protocol/cloud'
import { ApiError } from '../api/api-error.ts'
import type { CloudApi } from '../api/cloud-api.ts'

/** What can be shown of a set: names of variables, or that it opens an image registry. */
export interface ShownSet {
  readonly region: string
  /** Nothing for credentials of a registry, of which the cloud tells nothing. */
  readonly variables: SecretSetResponse['secrets'] | undefined
}

/** Gets a set, whatever its kind. */
export async function loadSet(
  api: Pick<CloudApi, 'secretSet' | 'secretSets'>,
  name: string,
): Promise<ShownSet> {
  try {
    const { region, secrets } = await api.secretSet(name)
    return { region, variables: secrets }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error
    const set = (await api.secretSets()).find((one) => one.name === name)
    if (set?.type !== 'imagePullSecret') throw error
    return { region: set.region, variables: undefined }
  }
}
