import type { PutSecretsRequest, SecretSetListResponse, SecretSetResponse } from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'
import type { Clock } from '../log.ts'
import { RedactionTable } from '../logs/redaction-table.ts'
import type { SettingsService } from '../settings/settings-service.ts'
import type { Store, StoredSecretSet } from '../store/store.ts'
import type { SecretBox } from './secret-box.ts'

const MAX_SECRETS = 200
const MAX_SETS = 1000
/** All secrets of an organization together, as they are sealed: each of them is looked for in every log. */
const MAX_ALL_BYTES = 1024 * 1024
/** Organizations whose tables are kept. */
const MAX_TABLES = 20
/** The keys under which an image pull secret is stored. */
const PULL = { host: 'host', auth: 'auth' } as const

/** Who needs secrets. */
export interface SecretUsers {
  /** The names of agents that need a set. */
  users(organizationId: string, setName: string): Promise<readonly string[]>
  /** A set has other values now. */
  changed(organizationId: string, setName: string): Promise<void>
}

/** What a service needs. */
export interface SecretServiceOptions {
  readonly users: SecretUsers
  readonly store: Store
  readonly box: SecretBox
  readonly settings: SettingsService
  readonly clock: Clock
}

/** Sets of secrets. Values go in, and come out only to what runs on their behalf. */
export class SecretService {
  readonly #options: SecretServiceOptions
  readonly #tables = new Map<string, { readonly state: string; readonly table: Promise<RedactionTable> }>()

  constructor(options: SecretServiceOptions) {
    this.#options = options
  }

  async list(organizationId: string): Promise<SecretSetListResponse> {
    const sets = await this.#options.store.secrets.sets(organizationId)
    return { sets: sets.map(({ name, type, region }) => ({ name, type, region, status: 'ready' })) }
  }

  async get(organizationId: string, name: string): Promise<SecretSetResponse> {
    const { region } = await this.#set(organizationId, name)
    const secrets = await this.#options.store.secrets.secrets(organizationId, name)
    return {
      region,
      status: 'ready',
      secrets: secrets.map(({ key, updatedAt }) => ({
        fieldName: key,
        updatedAt: new Date(updatedAt).toISOString(),
      })),
    }
  }

  /** Merges values into a set, or makes it. Gives its region. */
  async put(organizationId: string, name: string, request: PutSecretsRequest): Promise<string> {
    const { store, box, settings, clock } = this.#options
    const known = await store.secrets.set(organizationId, name)
    const region =
      request.region === undefined
        ? (known?.region ?? (await settings.defaultRegion(organizationId)))
        : settings.region(request.region)
    if (!known && (await store.secrets.sets(organizationId)).length >= MAX_SETS) {
      throw new CloudError('CONFLICT', `There are ${MAX_SETS} secret sets already. Remove one first.`)
    }
    const now = clock()
    const type = 'secrets' in request ? 'secret' : 'imagePullSecret'
    const before = new Map(known?.type === type ? await this.#opened(organizationId, name) : [])
    const others = [...valuesIn(request)].filter(([key, value]) => before.get(key) !== value)
    const secrets = others.map(([key, value]) => ({
      key,
      sealed: box.seal(value, place(organizationId, name, key)),
      updatedAt: now,
    }))
    await this.#requireRoom(organizationId, name, secrets)
    const set = { organizationId, name, type, region, createdAt: now, updatedAt: now } as const
    // What is as it was leaves the set as old as it was: agents that run since then have it all.
    const isSame = known?.type === type && known.region === region && secrets.length === 0
    const result = isSame
      ? 'stored'
      : await store.secrets.put(
          set,
          secrets,
          MAX_SECRETS,
          secrets.map(({ key }) => key),
        )
    if (result !== 'stored') throw new CloudError('INVALID_REQUEST', REFUSALS[result](name, known))
    // Also when nothing is new: somebody may not have heard of it the last time.
    if (known) await this.#options.users.changed(organizationId, name)
    return region
  }

  /** Removes a set that nobody needs. */
  async remove(organizationId: string, name: string): Promise<void> {
    const { store, clock } = this.#options
    const users = await this.#options.users.users(organizationId, name)
    if (users.length > 0) {
      const message = `The secret set ${name} is used by ${users.join(', ')}. Give them another one, or remove them first.`
      throw new CloudError('CONFLICT', message)
    }
    if (!(await store.secrets.removeSet(organizationId, name, clock()))) throw noSet(name)
  }

  async removeSecret(organizationId: string, name: string, key: string): Promise<void> {
    await this.#set(organizationId, name)
    const { store, clock, users } = this.#options
    if (await store.secrets.removeSecret(organizationId, name, key, clock())) {
      await users.changed(organizationId, name)
      return
    }
    throw new CloudError('NOT_FOUND', `The secret set ${name} has no ${key}.`)
  }

  /** The values of a set, for the bots that it is made for. */
  async variables(organizationId: string, name: string): Promise<Readonly<Record<string, string>>> {
    await this.#set(organizationId, name)
    return Object.fromEntries(await this.#opened(organizationId, name))
  }

  /** What an image is pulled with. */
  async pullSecret(
    organizationId: string,
    name: string,
  ): Promise<{ readonly host: string; readonly auth: string } | undefined> {
    const values = new Map(await this.#opened(organizationId, name))
    const [host, auth] = [values.get(PULL.host), values.get(PULL.auth)]
    return host === undefined || auth === undefined ? undefined : { host, auth }
  }

  /**
   * Every value of an organization, to be kept out of what others can read, also those that only bots still have that were started before a
   * change. Pull secrets come in all their spellings.
   */
  async valuesOf(organizationId: string): Promise<readonly string[]> {
    const { store, box } = this.#options
    const values = new Set<string>()
    for (const { setName, key, sealed } of await store.secrets.former(organizationId)) {
      values.add(box.open(sealed, place(organizationId, setName, key)))
    }
    for (const { name, type } of await store.secrets.sets(organizationId)) {
      for (const [key, value] of await this.#opened(organizationId, name)) {
        if (type === 'imagePullSecret' && key === PULL.host) continue
        values.add(value)
        if (type !== 'imagePullSecret') continue
        const plain = Buffer.from(value, 'base64').toString('utf8')
        values.add(plain).add(plain.slice(plain.indexOf(':') + 1))
      }
    }
    return [...values]
  }

  /** What is to be kept out of an organization's logs. It is made anew only when a set has changed. */
  async redactionFor(organizationId: string): Promise<RedactionTable> {
    const { store } = this.#options
    const sets = await store.secrets.sets(organizationId)
    const former = await store.secrets.former(organizationId)
    const state = JSON.stringify([
      ...sets.map(({ name, updatedAt }) => [name, updatedAt]),
      ...former.map(({ id }) => id),
    ])
    const known = this.#tables.get(organizationId)
    if (known?.state === state) return known.table
    const table = this.valuesOf(organizationId).then((values) => RedactionTable.of(values))
    this.#tables.delete(organizationId)
    for (const oldest of this.#tables.keys()) {
      if (this.#tables.size < MAX_TABLES) break
      this.#tables.delete(oldest)
    }
    this.#tables.set(organizationId, { state, table })
    // One that could not be made is tried again.
    table.catch(() => this.#tables.delete(organizationId))
    return table
  }

  async #opened(organizationId: string, name: string): Promise<readonly (readonly [string, string])[]> {
    const { store, box } = this.#options
    const secrets = await store.secrets.secrets(organizationId, name)
    return secrets.map(({ key, sealed }) => [key, box.open(sealed, place(organizationId, name, key))])
  }

  async #requireRoom(
    organizationId: string,
    name: string,
    added: readonly { readonly key: string; readonly sealed: Uint8Array }[],
  ): Promise<void> {
    const { store } = this.#options
    const replaced = new Set(added.map(({ key }) => key))
    let bytes = added.reduce((sum, { sealed }) => sum + sealed.length, 0)
    for (const set of await store.secrets.sets(organizationId)) {
      for (const { key, sealed } of await store.secrets.secrets(organizationId, set.name)) {
        if (set.name !== name || !replaced.has(key)) bytes += sealed.length
      }
    }
    if (bytes <= MAX_ALL_BYTES) return
    const message = `The secrets of the organization would be larger than ${MAX_ALL_BYTES} bytes in all. Remove some first.`
    throw new CloudError('CONFLICT', message)
  }

  async #set(organizationId: string, name: string): Promise<StoredSecretSet> {
    const set = await this.#options.store.secrets.set(organizationId, name)
    if (!set) throw noSet(name)
    if (set.type === 'secret') return set
    const message = `${name} is an image pull secret. It has no keys; it can be put and removed as a whole.`
    throw new CloudError('INVALID_REQUEST', message)
  }
}

const REFUSALS = {
  other_type: (name: string) =>
    `The secret set ${name} is of the other type, which never changes. Choose another name.`,
  other_region: (name: string, known: StoredSecretSet | undefined) =>
    `region: the secret set ${name} is in ${known?.region ?? 'another region'}, which never changes. Choose another name.`,
  too_many: () => `secrets: the set would hold more than ${MAX_SECRETS} secrets.`,
} as const

function* valuesIn(request: PutSecretsRequest): Generator<readonly [string, string]> {
  if ('secrets' in request) {
    for (const { secretKey, secretValue } of request.secrets) yield [secretKey, secretValue]
  } else {
    yield [PULL.host, request.host]
    yield [PULL.auth, request.secretValue]
  }
}

/** Sealed into a value, so that it opens in no other place. Names have no slashes. */
function place(organizationId: string, name: string, key: string): string {
  return `${organizationId}/${name}/${key}`
}

function noSet(name: string): CloudError {
  return new CloudError('NOT_FOUND', `There is no secret set ${name}.`)
}
