import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import {
  type BuildLogsResponse,
  type BuildRecord,
  type CreateBuildResponse,
  isFinal,
  type UploadUrlResponse,
} from '@botcli/protocol/cloud'
import { type Header, pack } from 'tar-stream'
import type { BuilderProbe } from '../builders/builder.ts'
import type { PlatformPacker } from '../builds/platform/platform-packer.ts'
import { type RunningCloud, startCloud } from '../cloud.ts'
import type { Engine } from '../engine/engine.ts'
import { KeyService } from '../keys/key-service.ts'
import type { CloudLog } from '../log.ts'
import { SqliteStore } from '../store/sqlite-store.ts'
import { ScriptedBuilder, scripted } from './scripted-builder.ts'

/** What a test may choose. */
export interface FixtureOptions {
  /** Those of this machine, or others; by default one that does what build files say. */
  readonly builders?: readonly BuilderProbe[] | 'machine'
  readonly platform?: PlatformPacker
  readonly engine?: Engine
  readonly runner?: readonly string[]
  /** Written as `cloud.json`. */
  readonly config?: unknown
  readonly clock?: () => number
  readonly dashboardFolder?: string
  readonly talkFolder?: string
  readonly builderStopMs?: number
  readonly idleMs?: number
  readonly sweepMs?: number
}

/** An answer that was read. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** A real cloud on a free port with a folder of its own. */
export class CloudFixture {
  readonly folder: string
  readonly builder = new ScriptedBuilder()
  /** What the cloud has told, as JSON. */
  readonly told: string[] = []
  readonly #options: FixtureOptions
  #cloud: RunningCloud | undefined
  #keys = { privateKey: '', publicKey: '', organizationId: '' }

  private constructor(folder: string, options: FixtureOptions) {
    this.folder = folder
    this.#options = options
  }

  static async start(options: FixtureOptions = {}): Promise<CloudFixture> {
    const folder = await mkdtemp(join(tmpdir(), 'botcli-cloud-'))
    if (options.config) await writeFile(join(folder, 'cloud.json'), JSON.stringify(options.config))
    const fixture = new CloudFixture(folder, options)
    await fixture.open()
    return fixture
  }

  get cloud(): RunningCloud {
    if (!this.#cloud) throw new Error('the cloud is not open')
    return this.#cloud
  }

  get url(): string {
    return this.cloud.url
  }

  get keys(): Readonly<{ privateKey: string; publicKey: string; organizationId: string }> {
    return this.#keys
  }

  async open({ newKey = false } = {}): Promise<void> {
    const tell =
      (level: string) =>
      (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
        const error = fields.error instanceof Error ? { error: fields.error.stack } : {}
        this.told.push(JSON.stringify({ level, message, ...fields, ...error }))
      }
    const log: CloudLog = { info: tell('info'), warn: tell('warn'), error: tell('error') }
    const {
      builders = [scripted(this.builder)],
      engine,
      platform,
      runner,
      clock,
      dashboardFolder,
      talkFolder,
      builderStopMs,
      idleMs,
      sweepMs,
    } = this.#options
    this.#cloud = await startCloud({
      ...{ dataFolder: this.folder, host: '127.0.0.1', port: 0, log, version: '9.9.9' },
      ...(builders !== 'machine' && { builders }),
      ...(engine && { engine }),
      ...(clock && { clock }),
      ...{ platform, runner, dashboardFolder, talkFolder, newKey, idleMs, sweepMs },
      ...(builderStopMs !== undefined && { builderStopMs }),
    })
    if (this.#cloud.firstKeys) this.#keys = this.#cloud.firstKeys
  }

  /** Stops and starts again; agents go on meanwhile. */
  async restart({ deadlineMs = 0, newKey = false } = {}): Promise<void> {
    await this.cloud.close({ deadlineMs })
    await this.open({ newKey })
  }

  async close(): Promise<void> {
    await this.#cloud?.close({ deadlineMs: 0, endAgents: true })
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Another organization, with its keys. */
  async addOrganization(): Promise<{ privateKey: string; publicKey: string; organizationId: string }> {
    return addOrganization(this.folder)
  }

  async request(path: string, init: RequestInit & { key?: string | undefined } = {}): Promise<Answer> {
    const { key = this.#keys.privateKey, headers, ...rest } = init
    const authorization: Record<string, string> = key === '' ? {} : { authorization: `Bearer ${key}` }
    // On a busy machine a connection that is used again may have just been closed.
    const fresh = { connection: 'close' }
    const response = await fetch(new URL(path, this.url), {
      ...rest,
      headers: { ...fresh, ...authorization, ...headers },
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    }
  }

  async send(method: string, path: string, body: unknown, key?: string): Promise<Answer> {
    return this.request(path, { method, body: JSON.stringify(body), ...(key !== undefined && { key }) })
  }

  async uploadPlace(key?: string, region = 'local'): Promise<UploadUrlResponse> {
    const { body } = await this.send('POST', '/v1/builds/upload-url', { region }, key)
    return body as UploadUrlResponse
  }

  /** Uploads as a client of S3 would. */
  async sendForm({ uploadUrl, uploadFields }: UploadUrlResponse, bytes: Uint8Array): Promise<Answer> {
    const form = new FormData()
    for (const [name, value] of Object.entries(uploadFields)) form.append(name, value)
    form.append('file', new Blob([new Uint8Array(bytes)], { type: 'application/gzip' }), 'context.tar.gz')
    const response = await fetch(uploadUrl, { method: 'POST', body: form })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? text : JSON.parse(text) }
  }

  /** Uploads a context, and gives the id of the upload. */
  async upload(files: Files, key?: string): Promise<string> {
    const place = await this.uploadPlace(key)
    const { status, body } = await this.sendForm(place, await packed(files))
    if (status !== 204) throw new Error(`the upload was refused: ${JSON.stringify(body)}`)
    return place.uploadId
  }

  /** Uploads a context and creates a build of it. */
  async build(
    files: Files,
    request: Readonly<Record<string, unknown>> = {},
    key?: string,
  ): Promise<CreateBuildResponse> {
    const uploadId = await this.upload(files, key)
    const { status, body } = await this.send(
      'POST',
      '/v1/builds',
      { uploadId, region: 'local', ...request },
      key,
    )
    if (status >= 300) throw new Error(`the build was refused: ${JSON.stringify(body)}`)
    return body as CreateBuildResponse
  }

  async record(id: string, key?: string): Promise<BuildRecord> {
    const { body } = await this.request(`/v1/builds/${id}`, { key })
    return (body as { build: BuildRecord }).build
  }

  async ended(id: string, key?: string): Promise<BuildRecord> {
    return until(async () => {
      const record = await this.record(id, key)
      return isFinal(record.status) ? record : undefined
    }, `build ${id} to end`)
  }

  async logs(id: string, key?: string): Promise<readonly string[]> {
    const { body } = await this.request(`/v1/builds/${id}/logs?limit=10000`, { key })
    return (body as BuildLogsResponse).logs
  }
}

/** Files of a context by path; a string with `-> ` in front is a link. */
export type Files = Readonly<Record<string, string | Uint8Array>>

/** A context as clients send it. */
export async function packed(files: Files): Promise<Buffer> {
  return packedEntries(
    Object.entries(files).map(([name, content]) =>
      typeof content === 'string' && content.startsWith('-> ')
        ? [{ name, type: 'symlink', linkname: content.slice(3) }]
        : [{ name, mode: 0o644 }, content],
    ),
  )
}

/** A context of any entries. */
export async function packedEntries(
  entries: readonly (readonly [
    Partial<Omit<Header, 'type'>> & { name: string; type?: string },
    (string | Uint8Array)?,
  ])[],
): Promise<Buffer> {
  const tar = pack()
  for (const [{ type = 'file', ...header }, content] of entries) {
    tar.entry({ mtime: new Date(0), ...header, type: type as Header['type'] }, content ?? '')
  }
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar as AsyncIterable<Buffer>) chunks.push(chunk)
  return gzipSync(Buffer.concat(chunks))
}

/** Makes another organization, with its keys, in the data folder of a cloud that may be running. */
export async function addOrganization(
  folder: string,
): Promise<{ privateKey: string; publicKey: string; organizationId: string }> {
  const store = new SqliteStore(join(folder, 'cloud.db'))
  const silent: CloudLog = { info: () => {}, warn: () => {}, error: () => {} }
  const keys = new KeyService(store, silent, Date.now)
  const organizationId = randomUUID()
  await store.organizations.create({
    ...{ id: organizationId, name: 'Another', defaultRegion: 'local', createdAt: Date.now() },
  })
  const { key: privateKey } = await keys.create(organizationId, { name: 'k', family: 'private' })
  const { key: publicKey } = await keys.create(organizationId, { name: 'k', family: 'public' })
  await store.close()
  return { privateKey, publicKey, organizationId }
}

/** Waits until something is there. */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  what: string,
): Promise<T> {
  const deadline = Date.now() + 45_000
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}
