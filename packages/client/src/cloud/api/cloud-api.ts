import type {
  BuildListResponse,
  BuildLogsResponse,
  BuildRecord,
  BuildStatus,
  CreateKeyRequest,
  CreateKeyResponse,
  KeyListResponse,
  OrganizationProperties,
  PutSecretsRequest,
  RegionListResponse,
  SecretSetListResponse,
  SecretSetResponse,
} from '@botcli/protocol/cloud'
import { AgentsApi } from './agents-api.ts'
import { queryOf, Sender, segment } from './sender.ts'

const LOG_PAGE = 10_000

/** Which builds are listed. */
export interface BuildsWanted {
  readonly status: BuildStatus | undefined
  readonly cursor: string | undefined
  readonly limit: number
}

/** Where the stream of a log begins. */
export interface LogStart {
  /** After this line; at the newest lines without it. */
  readonly lastId: string | undefined
  /** How many of the newest lines come first. */
  readonly limit: number
}

/** The part of the cloud's private API that the dashboard uses. */
export class CloudApi {
  readonly agents: AgentsApi
  readonly #sender: Sender

  constructor(origin: string, fetchFunction: typeof fetch, key: string, refused: () => void = () => {}) {
    this.#sender = new Sender(origin, fetchFunction, key, refused)
    this.agents = new AgentsApi(this.#sender)
  }

  async builds({ status, cursor, limit }: BuildsWanted): Promise<BuildListResponse> {
    return this.#sender.ask(`/v1/builds${queryOf({ limit, status, cursor })}`, 'builds')
  }

  async build(id: string): Promise<BuildRecord> {
    return (await this.#sender.ask<{ build: BuildRecord }>(`/v1/builds/${segment(id)}`, 'build')).build
  }

  /** Cancels a build, and gives it as it is then. One that is over stays, and this fails. */
  async cancelBuild(id: string): Promise<BuildRecord> {
    const path = `/v1/builds/${segment(id)}/cancel`
    return (await this.#sender.ask<{ build: BuildRecord }>(path, 'build', { method: 'POST' })).build
  }

  /** Removes a build that is over. */
  async removeBuild(id: string): Promise<void> {
    await this.#sender.ask(`/v1/builds/${segment(id)}`, 'status', { method: 'DELETE' })
  }

  /** Some lines of a log as a page; `token` leads to older ones. */
  async logPage(id: string, token: string | undefined): Promise<BuildLogsResponse> {
    const query = queryOf({ limit: LOG_PAGE, nextToken: token })
    return this.#sender.ask(`/v1/builds/${segment(id)}/logs${query}`, 'logs')
  }

  /** The stream of a log. */
  async logStream(id: string, { lastId, limit }: LogStart, signal: AbortSignal): Promise<Response> {
    return this.#sender.stream(`/v1/builds/${segment(id)}/logs${queryOf({ limit })}`, lastId, signal)
  }

  async secretSets(): Promise<SecretSetListResponse['sets']> {
    return (await this.#sender.ask<SecretSetListResponse>('/v1/secrets', 'sets')).sets
  }

  async secretSet(name: string): Promise<SecretSetResponse> {
    return this.#sender.ask(`/v1/secrets/${segment(name)}`, 'secrets')
  }

  async putSecrets(name: string, request: PutSecretsRequest): Promise<void> {
    await this.#sender.ask(`/v1/secrets/${segment(name)}`, 'status', { method: 'PUT', body: request })
  }

  async removeSecretSet(name: string): Promise<void> {
    await this.#sender.ask(`/v1/secrets/${segment(name)}`, 'status', { method: 'DELETE' })
  }

  async removeSecret(name: string, key: string): Promise<void> {
    await this.#sender.ask(`/v1/secrets/${segment(name)}/${segment(key)}`, 'status', { method: 'DELETE' })
  }

  async keys(): Promise<KeyListResponse['keys']> {
    return (await this.#sender.ask<KeyListResponse>('/v1/keys', 'keys')).keys
  }

  async createKey(request: CreateKeyRequest): Promise<CreateKeyResponse> {
    return this.#sender.ask('/v1/keys', 'key', { method: 'POST', body: request })
  }

  async revokeKey(id: string): Promise<void> {
    await this.#sender.ask(`/v1/keys/${segment(id)}`, 'status', { method: 'DELETE' })
  }

  async regions(): Promise<RegionListResponse['regions']> {
    return (await this.#sender.ask<RegionListResponse>('/v1/regions', 'regions')).regions
  }

  async properties(): Promise<OrganizationProperties> {
    const answer = await this.#sender.ask<{ properties: OrganizationProperties }>(
      '/v1/properties',
      'properties',
    )
    return answer.properties
  }

  async setDefaultRegion(defaultRegion: string): Promise<void> {
    await this.#sender.ask('/v1/properties', 'properties', { method: 'PATCH', body: { defaultRegion } })
  }
}
