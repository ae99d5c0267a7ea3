import type { PutSecretsRequest, SecretSetListResponse, SecretSetResponse } from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'
import type { Clock } from '../log.ts'
import { RedactionTable } from '../logs/redaction-table.ts'
import type { SettingsService } from '../settings/settings-service.ts'
import type { Store, StoredSecretSet } from '../store/store.ts'
import type { SecretBox } from './secret-box.ts'

const MAX_SETS = 1000
/**
 * All secrets of an organization together, as they are sealed: each of them is looked for in every log, and so are former ones that bots
 * still have.
 */
const LIMITS = { maxSecrets: 200, maxBytes: 1024 * 1024, maxKnownBytes: 2 * 1024 * 1024 } as const
/** Organizations whose tables are kept. */
const MAX_TABLES = 20
/** The keys under which an image pull secret is stored. */
const PULL = { host: 'host', auth: 'auth' } as const

/** Who needs secrets. */
export interface SecretUsers {
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
  readonly #tables = new Map<string, { readonly version: number; readonly table: Promise<RedactionTable> }>()

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
    const set = { organizationId, name, type, region, createdAt: now, updatedAt: now } as const
    // What is as it was makes no version: agents that run with the last one have it all.
    const isSame = known?.type === type && known.region === region && secrets.length === 0
    const result = isSame ? 'stored' : await store.secrets.put(set, secrets, LIMITS)
    if (result !== 'stored') {
      const isFull = result === 'too_large' || result === 'too_many_former'
      throw new CloudError(isFull ? 'CONFLICT' : 'INVALID_REQUEST', REFUSALS[result](name, known))
    }
    // Also when nothing is new: somebody may not have heard of it the last time.
    if (known) await this.#options.users.changed(organizationId, name)
    return region
  }

  /** Removes a set that nobody needs. */
  async remove(organizationId: string, name: string): Promise<void> {
    const { isRemoved, users } = await this.#options.store.secrets.removeSet(organizationId, name)
    if (users.length > 0) {
      const them = users.length === 1 ? 'it' : 'them'
      const message = `The secret set ${name} is used by ${users.join(', ')}. Give ${them} another one, or remove ${them} first.`
      throw new CloudError('CONFLICT', message)
    }
    if (!isRemoved) throw noSet(name)
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

  /** The values of a set in a version, for the bots that it is made for. */
  async variables(
    organizationId: string,
    name: string,
    version: number,
  ): Promise<Readonly<Record<string, string>>> {
    await this.#set(organizationId, name)
    return Object.fromEntries(await this.#opened(organizationId, name, version))
  }

  /** What an image is pulled with, in a version. */
  async pullSecret(
    organizationId: string,
    name: string,
    version: number,
  ): Promise<{ readonly host: string; readonly auth: string } | undefined> {
    const values = new Map(await this.#opened(organizationId, name, version))
    const [host, auth] = [values.get(PULL.host), values.get(PULL.auth)]
    return host === undefined || auth === undefined ? undefined : { host, auth }
  }

  /**
   * Every value of an organization, to be kept out of what others can read, also those that only bots of earlier deployments still have. Pull
   * secrets come in all their spellings.
   */
  async valuesOf(organizationId: string): Promise<readonly string[]> {
    const { store, box } = this.#options
    const values = new Set<string>()
    for (const { setName, type, key, sealed } of await store.secrets.known(organizationId)) {
      if (type === 'imagePullSecret' && key === PULL.host) continue
      const value = box.open(sealed, place(organizationId, setName, key))
      values.add(value)
      if (type !== 'imagePullSecret') continue
      const plain = Buffer.from(value, 'base64').toString('utf8')
      values.add(plain).add(plain.slice(plain.indexOf(':') + 1))
    }
    return [...values]
  }

  /** What is to be kept out of an organization's logs. It is made anew only when other values are known. */
  async redactionFor(organizationId: string): Promise<RedactionTable> {
    const version = await this.#options.store.secrets.version(organizationId)
    const known = this.#tables.get(organizationId)
    if (known?.version === version) return known.table
    const table = this.valuesOf(organizationId).then((values) => RedactionTable.of(values))
    this.#tables.delete(organizationId)
    for (const oldest of this.#tables.keys()) {
      if (this.#tables.size < MAX_TABLES) break
      this.#tables.delete(oldest)
    }
    this.#tables.set(organizationId, { version, table })
    // One that could not be made is tried again.
    table.catch(() => this.#tables.delete(organizationId))
    return table
  }

  async #opened(
    organizationId: string,
    name: string,
    version?: number,
  ): Promise<readonly (readonly [string, string])[]> {
    const { store, box } = this.#options
    const secrets = await store.secrets.secrets(organizationId, name, version)
    return secrets.map(({ key, sealed }) => [key, box.open(sealed, place(organizationId, name, key))])
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
  too_many: () => `secrets: the set would hold more than ${LIMITS.maxSecrets} secrets.`,
  too_large: () =>
    `The secrets of the organization would be larger than ${LIMITS.maxBytes} bytes in all. Remove some first.`,
  too_many_former: () =>
    `Bots that run still have former values, and with them the secrets of the organization would be larger than ${LIMITS.maxKnownBytes} bytes in all, which have to be kept out of logs. Try again when the sessions of earlier deployments are over; an agent whose newest deployment has failed holds them, too.`,
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
