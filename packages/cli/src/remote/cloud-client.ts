import {
  type BuildListResponse,
  type BuildLogsResponse,
  type BuildRecord,
  type BuildStatus,
  buildListResponse,
  buildLogsResponse,
  buildResponse,
  type CreateBuildRequest,
  type CreateBuildResponse,
  type CreateKeyRequest,
  type CreateKeyResponse,
  createBuildResponse,
  createKeyResponse,
  type KeyListResponse,
  keyListResponse,
  type OrganizationProperties,
  type PutSecretsRequest,
  propertiesResponse,
  putSecretsResponse,
  type SecretSetListResponse,
  type SecretSetResponse,
  secretSetListResponse,
  secretSetResponse,
  type UploadUrlResponse,
  uploadUrlResponse,
} from '@botcli/protocol/cloud'
import { AgentsApi } from './agents-api.ts'
import { CloudHttp, type HttpOptions } from './http.ts'

/** The cloud reads the whole upload before it answers. */
const CREATE_LIMIT_MS = 10 * 60_000

/** Which builds are wanted. */
export interface BuildFilter {
  readonly status?: BuildStatus | undefined
  readonly region?: string | undefined
  readonly contextHash?: string | undefined
  readonly dockerfilePath?: string | undefined
  /** Only the one that a new build of the same would be given. */
  readonly reusable?: 'true' | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

/** Which lines of a log are wanted. */
export interface LogsWish {
  readonly limit: number
  readonly nextToken?: string | undefined
}

/** From where a log is followed. */
export interface FollowWish {
  readonly limit: number
  readonly lastEventId: string | undefined
  readonly signal: AbortSignal
}

/** The private API of a cloud, an operation a method. Everything fails with a RemoteError. */
export class CloudClient {
  /** Agents, their logs and their sessions. */
  readonly agents: AgentsApi
  readonly #http: CloudHttp

  constructor(options: HttpOptions) {
    this.#http = new CloudHttp(options)
    this.agents = new AgentsApi(this.#http)
  }

  /** The address of the cloud. */
  get url(): string {
    return this.#http.url
  }

  listBuilds(filter: BuildFilter = {}): Promise<BuildListResponse> {
    return this.#http.json({ path: '/builds', query: { ...filter } }, buildListResponse)
  }

  async getBuild(id: string, signal?: AbortSignal): Promise<BuildRecord> {
    return (await this.#http.json({ path: `/builds/${segment(id)}`, signal }, buildResponse)).build
  }

  createUpload(region: string): Promise<UploadUrlResponse> {
    return this.#http.json(
      { method: 'POST', path: '/builds/upload-url', body: { region } },
      uploadUrlResponse,
    )
  }

  /** An own signal can let it go on though everything else is to stop: a build may have been made by then. */
  createBuild(body: CreateBuildRequest, signal?: AbortSignal): Promise<CreateBuildResponse> {
    const asked = { method: 'POST', path: '/builds', body, limitMs: CREATE_LIMIT_MS, signal } as const
    return this.#http.json(asked, createBuildResponse)
  }

  /** Cancels a build. One that is over stays as it is, and this fails with `CONFLICT`. */
  async cancelBuild(id: string, signal?: AbortSignal): Promise<BuildRecord> {
    const asked = { method: 'POST', path: `/builds/${segment(id)}/cancel`, signal } as const
    return (await this.#http.json(asked, buildResponse)).build
  }

  /** Cancels a build that is not over, and removes one that is. */
  deleteBuild(id: string, signal?: AbortSignal): Promise<void> {
    return this.#http.done({ method: 'DELETE', path: `/builds/${segment(id)}`, signal })
  }

  readLogs(id: string, { limit, nextToken }: LogsWish): Promise<BuildLogsResponse> {
    return this.#http.json(
      { path: `/builds/${segment(id)}/logs`, query: { limit, nextToken } },
      buildLogsResponse,
    )
  }

  /** The log as an event stream. */
  openLog(id: string, { limit, lastEventId, signal }: FollowWish): Promise<Response> {
    return this.#http.stream({
      path: `/builds/${segment(id)}/logs`,
      query: { limit },
      headers: {
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      signal,
    })
  }

  listSecretSets(): Promise<SecretSetListResponse> {
    return this.#http.json({ path: '/secrets' }, secretSetListResponse)
  }

  getSecretSet(name: string): Promise<SecretSetResponse> {
    return this.#http.json({ path: `/secrets/${segment(name)}` }, secretSetResponse)
  }

  /** Merges values into a set, all of them or none. */
  putSecrets(name: string, body: PutSecretsRequest): Promise<{ readonly region: string }> {
    return this.#http.json({ method: 'PUT', path: `/secrets/${segment(name)}`, body }, putSecretsResponse)
  }

  deleteSecretSet(name: string): Promise<void> {
    return this.#http.done({ method: 'DELETE', path: `/secrets/${segment(name)}` })
  }

  deleteSecret(name: string, key: string): Promise<void> {
    return this.#http.done({ method: 'DELETE', path: `/secrets/${segment(name)}/${segment(key)}` })
  }

  listKeys(): Promise<KeyListResponse> {
    return this.#http.json({ path: '/keys' }, keyListResponse)
  }

  createKey(body: CreateKeyRequest): Promise<CreateKeyResponse> {
    return this.#http.json({ method: 'POST', path: '/keys', body }, createKeyResponse)
  }

  revokeKey(id: string): Promise<void> {
    return this.#http.done({ method: 'DELETE', path: `/keys/${segment(id)}` })
  }

  async properties(): Promise<OrganizationProperties> {
    return (await this.#http.json({ path: '/properties' }, propertiesResponse)).properties
  }
}

function segment(part: string): string {
  return encodeURIComponent(part)
}
