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
import { shapeOf } from '../../state/shape.ts'
import { ApiError, noAnswer, refusal } from './api-error.ts'

const ANSWER_LIMIT_MS = 20_000
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
  readonly lastId: number | undefined
  /** How many of the newest lines come first. */
  readonly limit: number
}

/**
 * The part of the cloud's private API that the dashboard uses. The cloud that answers is the one that served this page, so an answer has
 * the shape that both were built with; only that it is an answer of the cloud at all is looked at.
 */
export class CloudApi {
  readonly #origin: string
  readonly #fetch: typeof fetch
  readonly #key: string
  readonly #refused: () => void

  constructor(origin: string, fetchFunction: typeof fetch, key: string, refused: () => void = () => {}) {
    this.#origin = origin
    this.#fetch = fetchFunction
    this.#key = key
    this.#refused = refused
  }

  async builds({ status, cursor, limit }: BuildsWanted): Promise<BuildListResponse> {
    const query = new URLSearchParams({ limit: String(limit) })
    if (status !== undefined) query.set('status', status)
    if (cursor !== undefined) query.set('cursor', cursor)
    return this.#ask('GET', `/v1/builds?${query}`, 'builds')
  }

  async build(id: string): Promise<BuildRecord> {
    return (await this.#ask<{ build: BuildRecord }>('GET', `/v1/builds/${segment(id)}`, 'build')).build
  }

  /** Cancels a build, and gives it as it is then. One that is over stays, and this fails. */
  async cancelBuild(id: string): Promise<BuildRecord> {
    const path = `/v1/builds/${segment(id)}/cancel`
    return (await this.#ask<{ build: BuildRecord }>('POST', path, 'build')).build
  }

  /** Removes a build that is over. */
  async removeBuild(id: string): Promise<void> {
    await this.#ask('DELETE', `/v1/builds/${segment(id)}`, 'status')
  }

  /** Some lines of a log as a page; `token` leads to older ones. */
  async logPage(id: string, token: string | undefined): Promise<BuildLogsResponse> {
    const query = new URLSearchParams({ limit: String(LOG_PAGE) })
    if (token !== undefined) query.set('nextToken', token)
    return this.#ask('GET', `/v1/builds/${segment(id)}/logs?${query}`, 'logs')
  }

  /** The stream of a log. An `EventSource` could not send the key. */
  async logStream(id: string, { lastId, limit }: LogStart, signal: AbortSignal): Promise<Response> {
    const headers = {
      accept: 'text/event-stream',
      ...(lastId !== undefined && { 'last-event-id': String(lastId) }),
    }
    return this.#send(`/v1/builds/${segment(id)}/logs?limit=${limit}`, { headers, signal, cache: 'no-store' })
  }

  async secretSets(): Promise<SecretSetListResponse['sets']> {
    return (await this.#ask<SecretSetListResponse>('GET', '/v1/secrets', 'sets')).sets
  }

  async secretSet(name: string): Promise<SecretSetResponse> {
    return this.#ask('GET', `/v1/secrets/${segment(name)}`, 'secrets')
  }

  async putSecrets(name: string, request: PutSecretsRequest): Promise<void> {
    await this.#ask('PUT', `/v1/secrets/${segment(name)}`, 'status', request)
  }

  async removeSecretSet(name: string): Promise<void> {
    await this.#ask('DELETE', `/v1/secrets/${segment(name)}`, 'status')
  }

  async removeSecret(name: string, key: string): Promise<void> {
    await this.#ask('DELETE', `/v1/secrets/${segment(name)}/${segment(key)}`, 'status')
  }

  async keys(): Promise<KeyListResponse['keys']> {
    return (await this.#ask<KeyListResponse>('GET', '/v1/keys', 'keys')).keys
  }

  async createKey(request: CreateKeyRequest): Promise<CreateKeyResponse> {
    return this.#ask('POST', '/v1/keys', 'key', request)
  }

  async revokeKey(id: string): Promise<void> {
    await this.#ask('DELETE', `/v1/keys/${segment(id)}`, 'status')
  }

  async regions(): Promise<RegionListResponse['regions']> {
    return (await this.#ask<RegionListResponse>('GET', '/v1/regions', 'regions')).regions
  }

  async properties(): Promise<OrganizationProperties> {
    const answer = await this.#ask<{ properties: OrganizationProperties }>(
      'GET',
      '/v1/properties',
      'properties',
    )
    return answer.properties
  }

  async setDefaultRegion(defaultRegion: string): Promise<void> {
    await this.#ask('PATCH', '/v1/properties', 'properties', { defaultRegion })
  }

  /** Sends a request and gives its answer, which has to have the given member. */
  async #ask<T>(method: string, path: string, member: string, body?: unknown): Promise<T> {
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS)
    const content =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const response = await this.#send(path, { method, signal, ...content })
    const answer: unknown = await response.json().catch(() => undefined)
    if (member in shapeOf(answer)) return answer as T
    throw new ApiError(response.status, 'STRANGE_ANSWER', `What answered ${path} is not this cloud.`)
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...init.headers, authorization: `Bearer ${this.#key}` }
    let response: Response
    try {
      response = await this.#fetch(new URL(path, this.#origin), { ...init, headers })
    } catch (error) {
      throw noAnswer(error)
    }
    if (response.ok) return response
    if (response.status === 401) this.#refused()
    throw await refusal(response)
  }
}

function segment(text: string): string {
  return encodeURIComponent(text)
}
