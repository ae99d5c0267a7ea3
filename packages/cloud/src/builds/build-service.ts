import { randomUUID } from 'node:crypto'
import {
  type BuildListResponse,
  type BuildRecord,
  type CreateBuildRequest,
  type CreateBuildResponse,
  isFinal,
} from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'
import { cursorOf, placeOf } from '../list-cursor.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { LogStore } from '../logs/log-store.ts'
import type { SettingsService } from '../settings/settings-service.ts'
import type { BuildFilter, Store, StoredBuild } from '../store/store.ts'
import type { BuildDirectory } from './build-directory.ts'
import { cancelledEnd } from './build-end.ts'
import type { BuildQueue } from './build-queue.ts'
import { buildRecordOf } from './build-record.ts'
import type { BuildRuns } from './build-runs.ts'
import type { BuilderShelf } from './builder-shelf.ts'
import type { UploadService } from './uploads/upload-service.ts'

const CANCEL_LEASE_MS = 60_000
/** A caller who cancels waits this long for the end. */
const CANCEL_WAIT_MS = 10_000
const RETRY_SECONDS = 30

/** What a service needs. */
export interface BuildServiceOptions {
  readonly store: Store
  readonly logs: LogStore
  readonly settings: SettingsService
  readonly uploads: UploadService
  readonly shelf: BuilderShelf
  readonly runs: BuildRuns
  readonly queue: BuildQueue
  readonly directory: BuildDirectory
  /** The names of agents that need a build. */
  readonly users: (organizationId: string, buildId: string) => Promise<readonly string[]>
  /** Builds of one organization that may wait. */
  readonly maxPending: number
  readonly log: CloudLog
  readonly clock: Clock
}

/** A page of the list of builds. */
export interface ListRequest extends BuildFilter {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
}

/** Builds, as the API has them. */
export class BuildService {
  readonly #options: BuildServiceOptions
  /** Builds that wait and are being ended, so that who comes second waits for the first. */
  readonly #ending = new Map<string, Promise<void>>()

  constructor(options: BuildServiceOptions) {
    this.#options = options
  }

  async create(organizationId: string, request: CreateBuildRequest): Promise<CreateBuildResponse> {
    const { store, settings, uploads, queue, directory, clock } = this.#options
    const region = settings.region(request.region)
    const { upload, contextHash, contextSizeBytes } = await uploads.received(organizationId, request.uploadId)
    if (upload.region !== region) {
      const message = `region: the upload is in ${upload.region}, and a build is made where its upload is.`
      throw new CloudError('INVALID_REQUEST', message)
    }
    const cached = request.noCache ? undefined : await this.#cached(organizationId, contextHash, request)
    if (cached) return { build: buildRecordOf(cached), contextHash, cached: true }
    await this.#requireRoom(organizationId)
    const now = clock()
    const build: StoredBuild = {
      id: randomUUID(),
      organizationId,
      status: 'pending',
      region,
      uploadId: upload.id,
      contextHash,
      contextSizeBytes,
      dockerfilePath: request.dockerfilePath,
      noCache: request.noCache,
      imageUri: null,
      imageSizeBytes: null,
      errorMessage: null,
      failure: null,
      builder: null,
      bases: [],
      outcome: null,
      cancelRequested: false,
      createdAt: now,
      updatedAt: now,
      startedAt: null,
      completedAt: null,
    }
    await store.builds.create(build)
    directory.note(build)
    queue.wake()
    return { build: buildRecordOf(build), contextHash, cached: false }
  }

  async get(organizationId: string, id: string): Promise<BuildRecord> {
    const build = await this.#options.store.builds.get(organizationId, id)
    if (!build) throw noBuild(id)
    return buildRecordOf(build)
  }

  async list(organizationId: string, request: ListRequest): Promise<BuildListResponse> {
    const { limit, offset, cursor, ...filter } = request
    const before = cursor === undefined ? undefined : placeOf(cursor)
    const page = { limit: limit + 1, offset, ...(before && { before }) }
    const { builds, total } = await this.#options.store.builds.list(organizationId, filter, page)
    const shown = builds.slice(0, limit)
    const last = builds.length > limit ? shown.at(-1) : undefined
    const place = last && { nextCursor: cursorOf(last) }
    return { builds: shown.map(buildRecordOf), total, limit, offset, ...place }
  }

  /** Ends a build that is not over, and gives it as it is then. One that is over stays. */
  async cancel(organizationId: string, id: string): Promise<BuildRecord> {
    const build = await this.#requestCancel(organizationId, id)
    if (isFinal(build.status)) {
      throw new CloudError('CONFLICT', `The build is over already: its status is ${build.status}.`)
    }
    await this.#cancel(build)
    return this.get(organizationId, id)
  }

  /** The list of the one build that a new one of the same thing would be given, if there is one. */
  async reusable(
    organizationId: string,
    same: Pick<CreateBuildRequest, 'region' | 'dockerfilePath'> & { readonly contextHash: string },
  ): Promise<BuildListResponse> {
    const found = await this.#cached(organizationId, same.contextHash, same)
    const builds = found ? [buildRecordOf(found)] : []
    return { builds, total: builds.length, limit: 1, offset: 0 }
  }

  /** Ends a build that is not over, or removes one that is, with its log and what it made. */
  async cancelOrRemove(organizationId: string, id: string): Promise<void> {
    const build = await this.#requestCancel(organizationId, id)
    if (isFinal(build.status)) await this.#remove(build)
    else await this.#cancel(build)
  }

  async #requestCancel(organizationId: string, id: string): Promise<StoredBuild> {
    const { store, clock } = this.#options
    const now = clock()
    const build = await store.builds.requestCancel(organizationId, id, now, now + CANCEL_LEASE_MS)
    if (!build) throw noBuild(id)
    return build
  }

  async #cancel(build: StoredBuild): Promise<void> {
    const { store, queue } = this.#options
    if (build.status === 'pending') return this.#endWaiting(build)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CANCEL_WAIT_MS)
    })
    await Promise.race([queue.stop(build.id, 'cancelled'), late])
    clearTimeout(timer)
    const now = await store.builds.get(build.organizationId, build.id)
    if (now && isFinal(now.status) && now.failure?.code !== 'cancelled') {
      throw new CloudError('CONFLICT', `The build ended as ${now.status} before it could be cancelled.`)
    }
  }

  async #endWaiting(build: StoredBuild): Promise<void> {
    const known = this.#ending.get(build.id)
    if (known) return known
    const ending = this.#options.runs.endWithoutBuilder(build, cancelledEnd()).finally(() => {
      this.#ending.delete(build.id)
    })
    this.#ending.set(build.id, ending)
    return ending
  }

  async #remove(build: StoredBuild): Promise<void> {
    const { store, logs, shelf, directory, log } = this.#options
    const { imageUri } = build
    const users = await this.#options.users(build.organizationId, build.id)
    if (users.length > 0) {
      const message = `The build is deployed: ${users.join(', ')}. Deploy something else there, or remove them first.`
      throw new CloudError('CONFLICT', message)
    }
    if (imageUri !== null) {
      const builder = await shelf.named(build.builder)
      if (builder) await builder.remove(imageUri)
      else log.warn('the artifact of a removed build stays: its builder is gone', { imageUri })
    }
    await logs.remove(build.id)
    await store.builds.remove(build.organizationId, build.id)
    directory.forget(build.id)
  }

  async #cached(
    organizationId: string,
    contextHash: string,
    { region, dockerfilePath }: Pick<CreateBuildRequest, 'region' | 'dockerfilePath'>,
  ): Promise<StoredBuild | undefined> {
    const { shelf, store, log } = this.#options
    const builder = await shelf.best()
    if (!builder) return undefined
    const same = { contextHash, region, dockerfilePath, builder: builder.name }
    const known = await store.builds.cached(organizationId, same)
    if (!known || known.imageUri === null) return undefined
    try {
      return (await builder.isFresh(known.imageUri, known.bases)) ? known : undefined
    } catch (error) {
      log.warn('an earlier build could not be looked at and is not used', { buildId: known.id, error })
      return undefined
    }
  }

  async #requireRoom(organizationId: string): Promise<void> {
    const { store, maxPending } = this.#options
    const { total } = await store.builds.list(organizationId, { status: 'pending' }, { limit: 1, offset: 0 })
    if (total < maxPending) return
    throw new CloudError(
      'RATE_LIMITED',
      `${total} builds are waiting already. Try again when some are over.`,
      {
        retryAfterSeconds: RETRY_SECONDS,
      },
    )
  }
}

/** The one answer for a build that is not there, or is somebody else's. */
export function noBuild(id: string): CloudError {
  return new CloudError('NOT_FOUND', `There is no build ${id}.`)
}
