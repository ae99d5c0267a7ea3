import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Readable } from 'node:stream'
import { MAX_CONTEXT_BYTES, type UploadUrlResponse } from '@botcli/protocol/cloud'
import type { BlobStore } from '../../blobs/blob-store.ts'
import { CloudError } from '../../errors.ts'
import type { Clock, CloudLog } from '../../log.ts'
import type { SettingsService } from '../../settings/settings-service.ts'
import type { Store, Upload } from '../../store/store.ts'
import { type ContextSummary, readContext } from '../context/read-context.ts'

const LIFE_MS = 15 * 60_000
/** A build may be about to be made of an upload whose time is just over. */
const GRACE_MS = 5 * 60_000
const SWEEP_AT_ONCE = 100

/** What a service needs. */
export interface UploadServiceOptions {
  readonly store: Store
  readonly blobs: BlobStore
  readonly settings: SettingsService
  readonly log: CloudLog
  readonly clock: Clock
  /** Signs the tokens that open a place for an upload. */
  readonly tokenKey: Uint8Array
}

/** Places for contexts. A place is written once, lives 15 minutes, and longer while a build that is not over needs it. */
export class UploadService {
  readonly #options: UploadServiceOptions
  readonly #receiving = new Set<string>()

  constructor(options: UploadServiceOptions) {
    this.#options = options
  }

  /** Makes a place. `urlOf` gives the address that takes the form. */
  async create(
    organizationId: string,
    wanted: string,
    urlOf: (uploadId: string) => string,
  ): Promise<UploadUrlResponse> {
    const { store, settings, clock } = this.#options
    const region = settings.region(wanted)
    const createdAt = clock()
    const id = randomUUID()
    const expiresAt = createdAt + LIFE_MS
    const place = { id, organizationId, region, expiresAt, createdAt }
    await store.uploads.create({ ...place, contextHash: null, contextSizeBytes: null })
    return {
      uploadId: id,
      uploadUrl: urlOf(id),
      uploadFields: { key: id, expires: String(expiresAt), token: this.#token(id, expiresAt) },
      expiresAt: new Date(expiresAt).toISOString(),
    }
  }

  /** Whether a form may be sent to a place. The token says it all, so that this can be judged before anything is looked up. */
  isAllowed(id: string, fields: ReadonlyMap<string, string>): boolean {
    const expires = Number(fields.get('expires'))
    const given = Buffer.from(fields.get('token') ?? '')
    const right = Buffer.from(this.#token(id, expires))
    const isGiven = given.length === right.length && timingSafeEqual(given, right)
    return isGiven && fields.get('key') === id
  }

  /** Takes the file of a form that is allowed. */
  async receive(id: string, fields: ReadonlyMap<string, string>, file: Readable): Promise<void> {
    const { blobs, clock } = this.#options
    if (Number(fields.get('expires')) <= clock()) throw expired()
    if (this.#receiving.has(id)) throw new CloudError('CONFLICT', 'This place is being written to already.')
    this.#receiving.add(id)
    try {
      if ((await blobs.size(id)) !== undefined) {
        throw new CloudError('CONFLICT', 'This place was written to already. Ask for a new one.')
      }
      await blobs.put(id, file, MAX_CONTEXT_BYTES)
    } finally {
      this.#receiving.delete(id)
    }
  }

  /** An upload that a build can be made of, with what is in it. It is read once, however many builds are made of it. */
  async received(
    organizationId: string,
    id: string,
  ): Promise<{ readonly upload: Upload; readonly contextHash: string; readonly contextSizeBytes: number }> {
    const { store, blobs, clock } = this.#options
    const upload = await store.uploads.get(organizationId, id)
    if (!upload || upload.expiresAt <= clock()) {
      throw new CloudError('NOT_FOUND', `uploadId: there is no upload ${id}, or its 15 minutes are over.`)
    }
    const { contextHash, contextSizeBytes } = upload
    if (contextHash !== null && contextSizeBytes !== null) return { upload, contextHash, contextSizeBytes }
    const packed = await blobs.get(id)
    if (!packed) throw invalid('nothing was uploaded yet')
    const summary: ContextSummary = await readContext(packed)
    await store.uploads.received(id, summary.hash, summary.sizeBytes)
    return { upload, contextHash: summary.hash, contextSizeBytes: summary.sizeBytes }
  }

  /** The context of a build as it was uploaded. */
  async packed(id: string): Promise<Readable | undefined> {
    return this.#options.blobs.get(id)
  }

  /** Removes what nobody needs any more. */
  async sweep(): Promise<void> {
    const { store, blobs, clock } = this.#options
    for (const { id } of await store.uploads.expired(clock() - GRACE_MS, SWEEP_AT_ONCE)) {
      if (this.#receiving.has(id)) continue
      await blobs.remove(id)
      await store.uploads.remove(id)
    }
  }

  #token(id: string, expiresAt: number): string {
    return createHmac('sha256', this.#options.tokenKey).update(`${id} ${expiresAt}`).digest('base64url')
  }
}

function invalid(why: string): CloudError {
  return new CloudError('INVALID_REQUEST', `uploadId: ${why}.`)
}

function expired(): CloudError {
  return invalid('the 15 minutes of this upload are over. Ask for a new place')
}
