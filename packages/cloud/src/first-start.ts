import { randomUUID } from 'node:crypto'
import type { KeyService } from './keys/key-service.ts'
import type { Clock } from './log.ts'
import type { SettingsService } from './settings/settings-service.ts'
import type { Store } from './store/store.ts'

/** What was made with an organization. The keys cannot be seen again. */
export interface FirstKeys {
  readonly organizationId: string
  readonly privateKey: string
  readonly publicKey: string
}

/** Makes one more private key for whoever starts the cloud: they may have lost the one that they had. It is made however many there are. */
export async function makeNewKey(store: Store, keys: KeyService): Promise<string | undefined> {
  const organization = await store.organizations.first()
  if (!organization) return undefined
  const request = { name: 'Made by a start with --new-key', family: 'private' } as const
  return (await keys.create(organization.id, request, Number.POSITIVE_INFINITY)).key
}

/** Makes an organization and its keys where there are none. One without any key counts as none: nobody could come in. */
export async function makeFirstKeys(
  store: Store,
  keys: KeyService,
  settings: SettingsService,
  clock: Clock,
): Promise<FirstKeys | undefined> {
  const known = await store.organizations.first()
  if (known && (await keys.list(known.id)).some((key) => key.family === 'private')) return undefined
  if (!known) return makeOrganization(store, keys, settings, clock, 'My organization')
  return makeKeys(keys, known.id)
}

/** Makes an organization, with its first keys. It shares nothing with others but the machine. */
export async function makeOrganization(
  store: Store,
  keys: KeyService,
  settings: SettingsService,
  clock: Clock,
  name: string,
): Promise<FirstKeys> {
  const id = randomUUID()
  await store.organizations.create({ id, name, defaultRegion: settings.firstRegion, createdAt: clock() })
  return makeKeys(keys, id)
}

async function makeKeys(keys: KeyService, organizationId: string): Promise<FirstKeys> {
  const name = 'Made with the organization'
  const { key: publicKey } = await keys.create(organizationId, { name, family: 'public' })
  const { key: privateKey } = await keys.create(organizationId, { name, family: 'private' })
  return { organizationId, privateKey, publicKey }
}
