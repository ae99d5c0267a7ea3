import type { KeyRecord } from '@botcli/protocol/cloud'
import type { CloudApi } from '../api/cloud-api.ts'
import type { KeyShelf } from './key-shelf.ts'

/** What the key is called in the list of keys. */
export const TALK_KEY_NAME = 'Dashboard'

/** The public key with which the talk page starts sessions. It is made when it is needed for the first time, or when it was revoked. */
export async function talkKey(api: Pick<CloudApi, 'keys' | 'createKey'>, shelf: KeyShelf): Promise<string> {
  const kept = shelf.readPublic()
  if (kept !== undefined && (await api.keys()).some((record) => opens(kept, record))) return kept
  const { key } = await api.createKey({ name: TALK_KEY_NAME, family: 'public' })
  shelf.keepPublic(key)
  return key
}

function opens(key: string, { family, prefix, revokedAt }: KeyRecord): boolean {
  return family === 'public' && revokedAt === null && key.startsWith(prefix)
}

/** The address of the talk page. The key stands behind `#`, which browsers send to nobody. */
export function talkAddress(agent: string, key: string): string {
  return `/talk/?${new URLSearchParams({ agent })}#${new URLSearchParams({ key })}`
}
